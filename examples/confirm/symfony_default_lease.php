<?php
// Symfony's lock: acquire() of a lease of 1 s takes the store's 300 s first. If it breaks off there, they stay.
require_once 'Symfony/Component/Lock/autoload.php';

final class BreaksOff extends Redis // once the lock was taken
{
    public $left = 2;
    public function eval($script, $args = [], $num_keys = 0): mixed {
        if ($this->left-- < 1) throw new RedisException('connection lost');
        return parent::eval($script, $args, $num_keys);
    }
}
$redis = new BreaksOff();
$redis->connect('127.0.0.1', (int) $argv[1]);
$lock = (new Symfony\Component\Lock\LockFactory(new Symfony\Component\Lock\Store\RedisStore($redis)))->createLock('orders/42', 1.0, false);
try { $lock->acquire(); } catch (Exception $why) { }
echo 'a lease of 1 s was asked for, and the key lives for ', $left = (int) ceil($redis->pttl('orders/42') / 1000), " s\n";
exit($left > 200 ? 0 : 1);
