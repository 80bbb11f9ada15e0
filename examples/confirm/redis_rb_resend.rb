# redis-rb: a SET NX whose reply is lost is sent again, and meets its own key: nil, and the key is there.
require "redis"
require "socket"

port = ARGV.first.to_i
proxy = TCPServer.new("127.0.0.1", 0)
Thread.new do
  2.times do |connection| # of the first, the reply to the SET is lost
    client, server = proxy.accept, TCPSocket.new("127.0.0.1", port)
    server.write(client.readpartial(4096))
    reply = server.readpartial(4096)
    connection.zero? ? client.close : client.write(reply)
  end
end
got = Redis.new(port: proxy.addr[1]).set("orders/42", "mine", nx: true, px: 10_000)
there = Redis.new(port: port).get("orders/42")
puts "set(..., nx: true) returned #{got.inspect}, and the key holds #{there.inspect}, which is the caller's own"
exit(!got && there == "mine")
