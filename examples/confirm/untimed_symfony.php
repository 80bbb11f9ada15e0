<?php
// Symfony's lock: which key a lock has whose ttl nobody gave, and for how long. The client comes before the port.
require_once 'Symfony/Component/Lock/autoload.php';
if ($argv[1] === 'predis') {
    require_once 'Predis/autoload.php';
    $redis = new Predis\Client(['port' => (int) $argv[2]]);
} else {
    $redis = new Redis();
    $redis->connect('127.0.0.1', (int) $argv[2]);
}
$lock = (new Symfony\Component\Lock\LockFactory(new Symfony\Component\Lock\Store\RedisStore($redis)))->createLock('orders/42');
$lock->acquire() || exit(1);
foreach ($redis->keys('*42') as $key) {
    $left = $redis->pttl($key);
    echo "the key $key ", $left < 0 ? 'has no end' : sprintf('lives for %d s', round($left / 1000)), "\n";
}
