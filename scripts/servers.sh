#!/bin/sh
# Runs a command while servers of every kind are up, and then stops them. They use private sockets, free ports and a
# folder of their own. Their DSNs are in the environment: TB_REDIS and so on.
# Usage: servers.sh COMMAND [ARGUMENT]...
set -eu

# A script that runs within servers.sh may call it again.
[ -z "${TB_SERVERS-}" ] || exec "$@"

scripts=$(dirname "$0")
folder=$(mktemp -d /tmp/token_bucket-servers.XXXXXX)
chmod 755 "$folder"
pids=
stop() {
    # A test may have left a server stopped.
    for pid in $pids; do kill -CONT "$pid" 2>/dev/null || true; kill -KILL "$pid" 2>/dev/null || true; done
    rm -rf "$folder"
}
trap stop EXIT
trap 'exit 130' INT TERM

# Writes so many free ports into a file; the port 10000 above each is free, too, for the bus of a cluster. All are below those that the
# system gives to connections. While this script runs no other one, and no test, takes them: see free_port() in php-tests/base.inc.
free_ports() {
    php -n -r 'for ($reserved = []; count($reserved) < $argv[1];) {
        $port = random_int(10000, 19999);
        $reservation = @stream_socket_server("unix://\0token_bucket-port-$port");
        if ($reservation && @stream_socket_server("tcp://127.0.0.1:$port") && @stream_socket_server("tcp://127.0.0.1:" . ($port + 10000))) {
            $reserved[$port] = $reservation;
        }
    }
    file_put_contents("$argv[2].new", implode("\n", array_keys($reserved)));
    rename("$argv[2].new", $argv[2]);
    while (file_exists("/proc/$argv[3]")) { sleep(1); }' "$1" "$2" $$ </dev/null >/dev/null 2>&1 &
    pids="$pids $!"
    until [ -e "$2" ]; do kill -0 $! || exit 1; sleep 0.05; done
}
set_ports() { redis_port=$1 tls_port=$2 sentinel_port=$3 master_port=$4 node1=$5 node2=$6 node3=$7 replica=$8 memcached1=$9; shift 9; memcached2=$1 memcached3=$2 mariadb_port=$3 mysql_port=$4; }
free_ports 13 "$folder/ports"
set_ports $(cat "$folder/ports")

start() {
    name=$1
    shift
    "$@" >"$folder/$name.log" 2>&1 &
    pids="$pids $!"
}
redis() {
    name=$1 server=$2
    shift 2
    mkdir -p "$folder/$name"
    start "$name" "$server" --dir "$folder/$name" --save '' --appendonly no --bind 127.0.0.1 "$@"
}
memcached_as() { if [ "$(id -u)" = 0 ]; then echo "-u nobody"; fi; }

# Makes two certificate authorities, a certificate for a server and one for a client, a server's certificate for
# other names, one of which contains a line break, and one that has expired.
certificates() {
    cd "$folder"
    for authority in ca other-ca; do
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 \
            -subj "/CN=$authority" -keyout "$authority.key" -out "$authority.pem"
    done
    printf 'subjectAltName=IP:127.0.0.1,DNS:localhost\n' >names
    for side in server client; do
        openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$side" -keyout "$side.key" -out "$side.csr"
        openssl x509 -req -in "$side.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out "$side.pem"
    done
    printf 'subjectAltName=@list\n[list]\nIP=127.0.0.2\nDNS=other.invalid\\nforged\n' >other-names
    openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile other-names -out other-names.pem
    openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 0 -extfile names -out expired.pem
    chmod 644 ./*.key
    cd - >/dev/null
}
certificates >"$folder/certificates.log" 2>&1

password=s3cret
redis redis redis-server --port "$redis_port" --unixsocket "$folder/redis.sock" --unixsocketperm 777 \
    --requirepass "$password" --tls-port "$tls_port" --tls-ca-cert-file "$folder/ca.pem" \
    --tls-cert-file "$folder/server.pem" --tls-key-file "$folder/server.key"
for node in "$node1" "$node2" "$node3" "$replica"; do
    redis "node-$node" redis-server --port "$node" --cluster-enabled yes --cluster-node-timeout 1000
done
redis master redis-server --port "$master_port"
printf 'port %s\nbind 127.0.0.1\ndir %s\nsentinel monitor main 127.0.0.1 %s 1\nsentinel down-after-milliseconds main 1000\n' \
    "$sentinel_port" "$folder" "$master_port" >"$folder/sentinel.conf"
start sentinel redis-sentinel "$folder/sentinel.conf"
if command -v valkey-server >/dev/null; then
    redis valkey valkey-server --port 0 --unixsocket "$folder/valkey.sock" --unixsocketperm 777
    export TB_VALKEY="redis+unix://$folder/valkey.sock"
fi
start memcached1 memcached $(memcached_as) -l 127.0.0.1 -p "$memcached1"
start memcached2 memcached $(memcached_as) -l 127.0.0.1 -p "$memcached2"
start memcached3 memcached $(memcached_as) -l 127.0.0.1 -p "$memcached3"
chmod 1777 "$folder"
start memcached4 memcached $(memcached_as) -s "$folder/memcached.sock" -a 0777

# A server that starts removes the temporary tables of other servers with the same TMPDIR.
TMPDIR="$folder" mariadb-install-db --no-defaults --datadir="$folder/mariadb" --skip-test-db --auth-root-authentication-method=normal \
    --user="$(id -un)" >"$folder/mariadb-install.log" 2>&1
# Power failures are not tested, so no commit waits for the disk.
sql_options="--tmpdir=$folder --bind-address=127.0.0.1 --innodb-flush-log-at-trx-commit=0 --innodb-buffer-pool-size=64M
    --max-connections=500 --ssl-ca=$folder/ca.pem --ssl-cert=$folder/server.pem --ssl-key=$folder/server.key"
start mariadb mariadbd --no-defaults --datadir="$folder/mariadb" --user="$(id -un)" --socket="$folder/mariadb.sock" \
    --port="$mariadb_port" --pid-file="$folder/mariadb.pid" $sql_options
"$scripts/servers/mysqld.sh" install "$folder/mysql"
start mysql "$scripts/servers/mysqld.sh" run --datadir="$folder/mysql" --socket="$folder/mysql.sock" --port="$mysql_port" \
    --pid-file="$folder/mysql.pid" --skip-log-bin $sql_options

# Waits ten seconds at most until a command succeeds.
await() {
    tries=0
    until "$@" >/dev/null 2>&1; do
        tries=$((tries + 1))
        [ $tries -lt 200 ] || { echo "A server did not start: $*" >&2; tail -n 5 "$folder"/*.log >&2; exit 1; }
        sleep 0.05
    done
}
for port in "$node1" "$node2" "$node3" "$replica" "$master_port" "$sentinel_port"; do await redis-cli -p "$port" ping; done
await redis-cli -p "$redis_port" -a "$password" ping
for port in "$memcached1" "$memcached2" "$memcached3"; do await php -n -r "exit((int) !fsockopen('127.0.0.1', $port));"; done
await test -S "$folder/memcached.sock"
for server in mariadb mysql; do await mariadb-admin --no-defaults -S "$folder/$server.sock" -u root ping; done

redis-cli -p "$node1" cluster addslotsrange 0 5460 >/dev/null
redis-cli -p "$node2" cluster addslotsrange 5461 10922 >/dev/null
redis-cli -p "$node3" cluster addslotsrange 10923 16383 >/dev/null
for port in "$node2" "$node3" "$replica"; do redis-cli -p "$port" cluster meet 127.0.0.1 "$node1" >/dev/null; done
knows_all() { [ "$(redis-cli -p "$1" cluster nodes | grep -c connected)" = 4 ] && redis-cli -p "$1" cluster info | grep -q cluster_state:ok; }
for port in "$node1" "$node2" "$node3" "$replica"; do await knows_all "$port"; done
# The replica belongs to the third node.
await redis-cli -p "$replica" cluster replicate "$(redis-cli -p "$node3" cluster myid)"

# Users: owner has all rights in a database, writer may not make tables, certified must show a certificate.
for server in mariadb mysql; do
    mariadb --no-defaults -S "$folder/$server.sock" -u root <<SQL
CREATE DATABASE limits;
CREATE USER owner@'%' IDENTIFIED BY '$password';
CREATE USER writer@'%' IDENTIFIED BY '$password';
CREATE USER certified@'%' IDENTIFIED BY '$password' REQUIRE X509;
GRANT ALL ON limits.* TO owner@'%';
GRANT SELECT, INSERT, UPDATE ON limits.* TO writer@'%';
GRANT ALL ON limits.* TO certified@'%';
SQL
    # MySQL accepts a proof of a password after it has seen the password once, here over the socket.
    for user in owner writer; do mariadb --no-defaults -S "$folder/$server.sock" -u "$user" -p"$password" -e ''; done
done

# Files of the tests are removed with the servers, even after an interruption.
mkdir -m 1777 "$folder/tmp"
export TMPDIR="$folder/tmp"
export TB_SERVERS="$folder"
export TB_REDIS="redis://:$password@127.0.0.1:$redis_port"
export TB_REDIS_UNIX="redis+unix://:$password@$folder/redis.sock?db=1"
export TB_REDIS_TLS="rediss://:$password@127.0.0.1:$tls_port/2?ca=$folder/ca.pem&cert=$folder/client.pem&key=$folder/client.key"
export TB_REDIS_CLUSTER="redis+cluster://127.0.0.1:$node1,127.0.0.1:$node2"
export TB_REDIS_SENTINEL="redis+sentinel://127.0.0.1:$sentinel_port/main"
export TB_MEMCACHED="memcached://127.0.0.1:$memcached1"
export TB_MEMCACHED_TWO="memcached://127.0.0.1:$memcached2,127.0.0.1:$memcached3"
export TB_MEMCACHED_UNIX="memcached+unix://$folder/memcached.sock"
# Exports the DSNs of a database: over TCP, over its socket and over TLS. Usage: export_sql NAME PORT SOCKET
export_sql() {
    export "TB_$1=mysql://owner:$password@127.0.0.1:$2/limits"
    export "TB_$1_UNIX=mysql+unix://owner:$password@$3?db=limits&table=over_socket"
    export "TB_$1_TLS=mysql://certified:$password@127.0.0.1:$2/limits?table=over_tls&ca=$folder/ca.pem&cert=$folder/client.pem&key=$folder/client.key"
}
export_sql MARIADB "$mariadb_port" "$folder/mariadb.sock"
export_sql MYSQL "$mysql_port" "$folder/mysql.sock"
"$@"
