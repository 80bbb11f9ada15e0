package resource

import "github.com/redis/go-redis/v9"

// read and write answer {value, version}, or {fence} when the token is stale. enter answers
// {value, version, token}.
var (
	read = redis.NewScript(`
local seen = redis.call('HMGET', KEYS[1], 'value', 'version', 'fence')
local token, fence = tonumber(ARGV[1]), tonumber(seen[3] or '0')
if token > 0 then
  if token < fence then return {fence} end
  redis.call('HSET', KEYS[1], 'fence', token)
end
return {tonumber(seen[1] or '0'), tonumber(seen[2] or '0')}`)

	write = redis.NewScript(`
local seen = redis.call('HMGET', KEYS[1], 'value', 'version', 'fence')
local token, fence = tonumber(ARGV[1]), tonumber(seen[3] or '0')
if token > 0 then
  if token < fence then return {fence} end
  redis.call('HSET', KEYS[1], 'fence', token)
end
local version = tonumber(seen[2] or '0')
redis.call('HSET', KEYS[1], 'value', ARGV[2], 'version', version + 1)
return {tonumber(ARGV[2]), version}`)

	enter = redis.NewScript(`
local token = redis.call('HINCRBY', KEYS[1], 'fence', 1)
local seen = redis.call('HMGET', KEYS[1], 'value', 'version')
return {tonumber(seen[1] or '0'), tonumber(seen[2] or '0'), token}`)
)
