<?php
// Symfony's lock over RedisStore on predis.
//
//   lockbench gate --worker 'php examples/libraries/php/symfony_predis.php'

declare(strict_types=1);

require __DIR__ . '/symfony.php';

final class SymfonyOnPredis extends SymfonyLock
{
    protected function client(string $address): OnPredis
    {
        return new OnPredis($address);
    }
}

Lockbench\serve(SymfonyOnPredis::class);
