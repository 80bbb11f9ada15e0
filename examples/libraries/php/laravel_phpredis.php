<?php
// Laravel's cache lock on phpredis.
//
//   lockbench gate --worker 'php examples/libraries/php/laravel_phpredis.php'

declare(strict_types=1);

require __DIR__ . '/laravel.php';

final class LaravelOnPhpRedis extends LaravelLock
{
    const CLIENT = 'phpredis';
}

Lockbench\serve(LaravelOnPhpRedis::class);
