<?php
// Laravel's cache lock: which key a lock has whose seconds nobody gave, and for how long. The client comes before the port.
require_once 'Illuminate/Redis/autoload.php';
require_once 'Illuminate/Cache/autoload.php';
if ($argv[1] === 'predis') require_once 'Predis/autoload.php';
$manager = new Illuminate\Redis\RedisManager(null, $argv[1], ['default' => ['host' => '127.0.0.1', 'port' => (int) $argv[2]]]);
$lock = (new Illuminate\Cache\RedisStore($manager))->lock('orders/42');
$lock->get() || exit(1);
$redis = $manager->connection()->client();
foreach ($redis->keys('*42') as $key) {
    $left = $redis->pttl($key);
    echo "the key $key ", $left < 0 ? 'has no end' : sprintf('lives for %d s', round($left / 1000)), "\n";
}
