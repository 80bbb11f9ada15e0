package resource

import "github.com/redis/go-redis/v9"

// Scripts are the sources of the register's scripts, for clients that are not written in
// Go. Each has the register's key as its one key. read takes a token, 0 for none; write a
// token and a value; both answer {value, version}, that of write being the one replaced, or
// {fence} when the token is stale. enter answers {value, version, token}.
func Scripts() (read, write, enter string) {
	return readSource, writeSource, enterSource
}

// read and write answer {value, version}, or {fence} when the token is stale. enter answers
// {value, version, token}.
var (
	read = redis.NewScript(readSource)

	write = redis.NewScript(writeSource)

	enter = redis.NewScript(enterSource)
)

const readSource = `
local seen = redis.call('HMGET', KEYS[1], 'value', 'version', 'fence')
local token, fence = tonumber(ARGV[1]), tonumber(seen[3] or '0')
if token > 0 then
  if token < fence then return {fence} end
  redis.call('HSET', KEYS[1], 'fence', token)
end
return {tonumber(seen[1] or '0'), tonumber(seen[2] or '0')}`

const writeSource = `
local seen = redis.call('HMGET', KEYS[1], 'value', 'version', 'fence')
local token, fence = tonumber(ARGV[1]), tonumber(seen[3] or '0')
if token > 0 then
  if token < fence then return {fence} end
  redis.call('HSET', KEYS[1], 'fence', token)
end
local version = tonumber(seen[2] or '0')
redis.call('HSET', KEYS[1], 'value', ARGV[2], 'version', version + 1)
return {tonumber(ARGV[2]), version}`

const enterSource = `
local token = redis.call('HINCRBY', KEYS[1], 'fence', 1)
local seen = redis.call('HMGET', KEYS[1], 'value', 'version')
return {tonumber(seen[1] or '0'), tonumber(seen[2] or '0'), token}`
