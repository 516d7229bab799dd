package main

import (
	_ "github.com/jackc/pgx/v5"
	_ "github.com/minio/minio-go/v7"
	_ "github.com/parquet-go/parquet-go"
	_ "github.com/redis/go-redis/v9"
)
