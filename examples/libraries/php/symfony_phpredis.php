<?php
// Symfony's lock over RedisStore on phpredis.
//
//   lockbench gate --worker 'php examples/libraries/php/symfony_phpredis.php'

declare(strict_types=1);

require __DIR__ . '/symfony.php';

final class SymfonyOnPhpRedis extends SymfonyLock
{
    protected function client(string $address): OnPhpRedis
    {
        return new OnPhpRedis($address);
    }
}

Lockbench\serve(SymfonyOnPhpRedis::class);
