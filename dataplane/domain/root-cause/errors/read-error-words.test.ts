import { expect } from 'chai'
import { describe, it } from 'mocha'
import { maskMessage } from '../../records/pattern.ts'
import {
  type ErrorSense,
  maskBesideStatus,
  readErrorWords,
  reasonIn,
  tellsKernelKill,
  tellsLastingState,
  tellsOomKill,
  tellsRestarts,
  tellsSlowStatement,
  tellsStall,
  tellsWorkerKill,
  waitsForOthers,
  withOpenReasons,
} from './read-error-words.ts'

const SENSES: Readonly<Record<ErrorSense, readonly string[]>> = {
  own: [
    'java.lang.OutOfMemoryError: Java heap space',
    'write failed, errno 28 No space left on device',
    'sorry, too many clients already',
    'x509: certificate has expired or is not yet valid',
    'deadlock detected',
    'open /var/spool: permission denied',
    'PSQLException: FATAL: password authentication failed for user',
    'System.NullReferenceException: Object reference not set to an instance of an object.',
    'Error creating bean orders: Unsatisfied dependency expressed through field ledger',
    'MemoryError',
    'ORA-01653: unable to extend table SHOP.ORDERS',
    'RecordDeserializationException: Error deserializing key/value for partition <*>',
    'mnesia_event got {inconsistent_database, running_partitioned_network}',
    'memory resource limit alarm set on node rabbit@one',
    'connect EADDRNOTAVAIL <*> - Local (<*>)',
    '1024 worker_connections are not enough while connecting to upstream',
    'AH00484: server reached MaxRequestWorkers setting, consider raising the MaxRequestWorkers setting',
    '[pool www] server reached pm.max_children setting (5), consider raising it',
    'Error: ImagePullBackOff: Back-off pulling image <*>',
  ],
  callee: [
    'payments unavailable',
    'POST http://payments/charge returned 500',
    'upstream request failed',
    'request failed with status code 500',
    'order not stored: DataAccessResourceFailureException: could not extend file',
    'pq: sorry, too many clients already',
    'lookup payments on 10.0.0.10:53: i/o timeout',
    'org.springframework.web.client.HttpClientErrorException$NotFound: 404 Not Found: [no body]',
    'AxiosError: Request failed with status code 422',
    'System.Net.Http.HttpRequestException: Response status code does not indicate success: 401 (Unauthorized).',
    'requests.exceptions.HTTPError: 400 Client Error: Bad Request for url',
    'Memory cgroup out of memory: Killed process 4711 (gunicorn)',
  ],
  vague: [
    'internal server error',
    'request failed',
    'order failed',
    'POST /v2/orders/7/lines -> 502 in 31 ms',
    'GET /health HTTP/1.1 failed',
  ],
  plain: [
    'connection refused: db-primary:5432',
    'HTTP POST /orders responded 500 in 12.1 ms System.InvalidOperationException: Sequence contains no elements',
    'fork failed: Resource temporarily unavailable',
    'Kaboom',
    '',
    'Connection is not available, timeout of the pool',
    'no charge for card 7',
    'job 7 failed\nTraceback (most recent call last):\n  File "/app/jobs.py", line 7, in run\nZeroDivisionError: division by zero',
  ],
}

describe('words of errors', () => {
  for (const [sense, texts] of Object.entries(SENSES))
    for (const text of texts) it(`${sense}: ${text}`, () => expect(readErrorWords(text).sense).to.equal(sense))

  it('name hosts with a port, of URLs, those that were looked up, and workloads', () => {
    const hosts = (text: string) => readErrorWords(text).hosts
    expect(hosts('Connection to orders-db:5432 refused')).to.deep.equal(['orders-db'])
    expect(hosts('Post "http://payments.shop.svc:8080/charge": EOF')).to.deep.equal(['payments.shop.svc'])
    expect(hosts('node 1 (kafka/10.0.0.7:9092) is not there')).to.deep.equal(['kafka'])
    expect(hosts('getaddrinfo ENOTFOUND payments')).to.deep.equal(['payments'])
    expect(hosts('dial tcp 10.0.0.7:5432: refused')).to.deep.equal([])
    expect(hosts('Back-off restarting failed container orders in pod shop/orders-7d9f5c4b8d-x2v4p')).to.deep.equal([
      'orders',
      'orders-7d9f5c4b8d-x2v4p',
    ])
  })

  for (const text of [
    'Error: getaddrinfo ENOTFOUND bank.internal',
    'getaddrinfo EAI_AGAIN bank.internal:443',
    'Get "https://bank.internal/charge": dial tcp: lookup bank.internal on 10.96.0.10:53: no such host',
    'java.net.UnknownHostException: bank.internal: Name or service not known',
    'could not translate host name "bank.internal" to address: Name or service not known',
    "Failed to resolve 'bank.internal' ([Errno -3] Temporary failure in name resolution)",
    "HTTPSConnectionPool(host='bank.internal', port=443): [Errno -2] Name or service not known",
    'curl: (6) Could not resolve host: bank.internal',
    'bank.internal could not be resolved (3: Host not found)',
    'host not found in upstream "bank.internal"',
  ])
    it(`name what was looked up: ${text}`, () => {
      const { isUnresolved, unresolvedName, sense } = readErrorWords(text)
      expect({ isUnresolved, unresolvedName, sense }).to.deep.equal({
        isUnresolved: true,
        unresolvedName: 'bank.internal',
        sense: 'callee',
      })
    })

  it('tell that a cache said so, where a client passes on its words', () => {
    for (const text of [
      "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.",
      'OOM command not allowed',
    ])
      expect(readErrorWords(`no session: ${text}`), text).to.deep.include({ sense: 'callee', system: 'redis' })
  })

  it('tell that nobody answered, where they do not tell who should have', () => {
    for (const text of ['no quote: context deadline exceeded', 'dial tcp 10.3.4.5:8080: connect: connection refused', 'read timed out'])
      expect(readErrorWords(text).isUnanswered, text).to.equal(true)
    for (const text of [
      'connection refused: bank:443',
      'connection refused: bank:<*>',
      'timed out waiting for a connection of the pool',
      'no quote',
    ])
      expect(readErrorWords(text).isUnanswered, text).to.equal(false)
  })

  it('tell that the connections of a pool are taken, by their clients', () => {
    for (const text of [
      'HikariPool-1 - Connection is not available, request timed out after 30000ms.',
      'Unable to acquire JDBC Connection',
      'QueuePool limit of size 5 overflow 10 reached, connection timed out, timeout 30.00',
      'Knex: Timeout acquiring a connection. The pool is probably full.',
      'timed out waiting for a connection of the pool',
      'could not get a resource: Timeout waiting for idle connection',
      'redis: connection pool exhausted',
    ])
      expect(readErrorWords(text), text).to.deep.include({ isPoolEmpty: true, isUnanswered: false })
    for (const text of ['read timed out', 'waiting for the car pool', 'canceling statement due to lock timeout'])
      expect(readErrorWords(text).isPoolEmpty, text).to.equal(false)
    expect(readErrorWords('canceling statement due to lock timeout').isUnanswered).to.equal(false)
  })

  it('tell of statements that took long, in the words of databases', () => {
    for (const text of [
      'LOG:  duration: 31245.221 ms  statement: SELECT * FROM orders',
      'duration: <*> ms execute <unnamed>: SELECT 1',
      '# Query_time: 31.2  Lock_time: 0.0 Rows_sent: 1',
      'slow query: 31 s: SELECT 1',
      '{"t":{"$date":<*>},"s":"I","c":"COMMAND","msg":"Slow query","attr":{"durationMillis":<*>}}',
    ])
      expect(tellsSlowStatement(text), text).to.equal(true)
    for (const text of ['order stored in 12 ms', 'checkpoint complete', 'duration: 12 ms'])
      expect(tellsSlowStatement(text), text).to.equal(false)
  })

  it('tells lines by which a runtime says that it stood still', () => {
    for (const text of [
      '[gc] GC(<*>) Pause Full (G1 Compaction Pause) <*>M-><*>M(<*>M) <*>ms',
      '[<*>:<*>] <*> ms: Mark-sweep <*> (<*>) -> <*> (<*>) MB, <*> / <*> ms allocation failure',
      'Detected pause in JVM or host machine (eg GC): pause of approximately <*>ms',
      '[gc][young][<*>][<*>] overhead, spent [<*>s] collecting in the last [<*>s]',
      'HikariPool-<*> - Thread starvation or clock leap detected (housekeeper delta=<*>s).',
      'the heartbeat has been running for <*> which is longer than <*>. This could be caused by thread pool starvation.',
      'event loop was blocked for <*> ms',
    ])
      expect(tellsStall(text), text).to.equal(true)
    for (const text of [
      '[gc] GC(<*>) Pause Young (Normal) (G1 Evacuation Pause) <*>M-><*>M',
      'job paused by user',
      'order <*> accepted',
      '',
    ])
      expect(tellsStall(text), text).to.equal(false)
  })

  it('tell that the certificate of the other end does not hold, and not that it refused the speaker’s', () => {
    for (const text of [
      'Error: certificate has expired',
      '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: certificate has expired',
      'The remote certificate is invalid because of errors in the certificate chain: NotTimeValid',
      'PKIX path validation failed: validity check failed',
      'TLS-Handshake fehlgeschlagen: Zertifikat abgelaufen',
    ])
      expect([readErrorWords(text).refusesPeer, readErrorWords(text).sense], text).to.deep.equal([true, 'own'])
    const refused = 'http: TLS handshake error from 10.1.4.2:38114: remote error: tls: expired certificate'
    expect(readErrorWords(refused).refusesPeer).to.equal(false)
  })

  it('are told with the host that a client of Python names', () => {
    expect(withOpenReasons("HTTPConnectionPool(host='orders', port=8080): Read timed out.")).to.contain('host=orders')
  })

  it('name no file of a stack trace as a host', () => {
    expect(readErrorWords('request failed\n\tat shop.Order.place(Order.java:118)').hosts).to.deep.equal([])
  })

  it('tell of a kill by the kernel, whatever their level', () => {
    expect(tellsKernelKill('kernel: [8004.1] Memory cgroup out of memory: Killed process 41822 (java)')).to.equal(true)
    expect(tellsKernelKill('Out of memory: Killed process <*> (node)')).to.equal(true)
    for (const text of ['java invoked oom-killer: order=0', 'oom_score_adj is 985', 'killed process 7'])
      expect(tellsKernelKill(text), text).to.equal(false)
  })

  it('tell of a kill for memory, and of restarts, by the platform', () => {
    const [killed, restarted] = ['Memory cgroup out of memory: Killed process 4711 (java)', 'Back-off restarting failed container orders']
    for (const text of [killed, 'System OOM encountered, victim process: java', 'Container orders was OOMKilled']) {
      expect(tellsOomKill(text), text).to.equal(true)
      expect(tellsRestarts(text), text).to.equal(false)
    }
    for (const text of [
      restarted,
      'CrashLoopBackOff: back-off 40s restarting failed container=orders',
      'Back-off restarting, last state OOMKilled',
    ]) {
      expect(tellsOomKill(text), text).to.equal(false)
      expect(tellsRestarts(text), text).to.equal(true)
    }
  })

  it('name nothing that was looked up where a host did not answer, or a thing was not found', () => {
    for (const text of ['connect ECONNREFUSED bank.internal:443', 'failed to resolve dependency "bank"', 'order not found'])
      expect(readErrorWords(text).unresolvedName, text).to.equal(undefined)
  })

  it('name the sites that were called, and no page that a proxy was asked for', () => {
    const sites = (text: string) => readErrorWords(text).sites
    expect(sites('POST https://api.maps.example/lookup failed: 503 Service Unavailable')).to.deep.equal(['api.maps.example'])
    expect(sites('upstream timed out, referrer: "https://shop.example/cart"')).to.deep.equal([])
    expect(sites('Connection to orders-db:5432 refused')).to.deep.equal([])
  })

  it('name brokers and stores whose client passes on that they take no more, or have no leader', () => {
    const said = {
      'nats: API error: code=503 err_code=10077 description=maximum bytes exceeded': 'nats',
      'nats: timeout': 'nats',
      'etcdserver: leader changed': 'etcd',
      'etcdserver: mvcc: database space exceeded': 'etcd',
      'gocql: no response received from cassandra within timeout period: read timeout': 'cassandra',
      'scylla::QueryError(RequestTimeout)': 'cassandra',
      'redis.exceptions.ConnectionError: max number of clients reached': 'redis',
    }
    for (const [text, system] of Object.entries(said)) expect(readErrorWords(text).system, text).to.equal(system)
    expect(readErrorWords('JetStream resource limits exceeded for account: "MEDIA"').sense).to.equal('own')
  })

  it('name the system whose client complains, unless of what it was asked', () => {
    const system = (text: string) => readErrorWords(text).system
    expect(system('PSQLException: ERROR: canceling statement due to statement timeout')).to.equal('postgresql')
    expect(system('MySqlConnector.MySqlException: Unable to connect to any of the hosts')).to.equal('mysql')
    expect(system('AmqpException: channel is already closed due to channel error')).to.equal('rabbitmq')
    expect(system('PSQLException: ERROR: duplicate key value violates unique constraint')).to.equal(undefined)
    expect(system("READONLY You can't write against a read only replica.")).to.equal('redis')
    expect(system('LOADING Redis is loading the dataset in memory')).to.equal('redis')
    expect(system('Expiring 3 record(s) for orders.paid-3: 120000 ms has passed since batch creation')).to.equal('kafka')
    expect(system('The MySQL server is running with the --read-only option so it cannot execute this statement')).to.equal('mysql')
    expect(system('MongoSocketOpenException: Exception opening socket')).to.equal('mongodb')
    expect(system('Memcached::get(): SERVER HAS FAILED AND IS DISABLED UNTIL TIMED RETRY')).to.equal('memcached')
    for (const text of ['error communicating with database: Connection refused (os error 111)', 'Datenbankzugriff: connection timed out'])
      expect(system(text), text).to.equal('database')
    expect(system('connect ECONNREFUSED 10.3.4.5:5432')).to.equal('postgresql')
    expect(system('dial tcp 10.3.4.5:6379: i/o timeout')).to.equal('redis')
    expect(system('connect ECONNREFUSED 10.3.4.5:8080')).to.equal(undefined)
    expect(system('database connection pool exhausted: timed out')).to.equal(undefined)
    expect(system('database has 3 tables')).to.equal(undefined)
    expect(system('HikariPool of psqlexception: timed out')).to.equal(undefined)
  })

  it('tell what the API of a cloud answered', () => {
    for (const text of [
      'An error occurred (SlowDown) when calling the PutObject operation (reached max retries: 4): Please reduce your request rate.',
      'Please reduce your request rate. (Service: Amazon S3; Status Code: 503; Error Code: SlowDown; Request ID: 1)'.replace('n S', 'nS'),
      'operation error S3: PutObject, https response error StatusCode: 503, RequestID: 1, api error SlowDown',
      'google.api_core.exceptions.ServiceUnavailable: 503 backend error',
    ])
      expect(readErrorWords(text).isOfCloud, text).to.equal(true)
    for (const text of ['calling the payments operation failed', 'operation failed: 503'])
      expect(readErrorWords(text).isOfCloud, text).to.equal(false)
  })

  it('tell why a process does not start', () => {
    for (const text of [
      'migration 0042_add_lot failed: column "lot" already exists',
      'failed to apply migrations',
      'APPLICATION FAILED TO START',
      'startup aborted',
    ])
      expect(readErrorWords(text).sense, text).to.equal('own')
    for (const text of ['migration finished', 'order failed', 'payment application failed'])
      expect(readErrorWords(text).sense, text).to.not.equal('own')
  })

  it('tell that somebody answered with a failure, over gRPC as well', () => {
    for (const text of ['rpc error: code = Internal desc = no rate', 'io.grpc.StatusRuntimeException: INVALID_ARGUMENT: no rate'])
      expect([readErrorWords(text).isAnswered, readErrorWords(text).sense], text).to.deep.equal([true, 'callee'])
    for (const text of ['rpc error: code = DeadlineExceeded desc = context deadline exceeded', 'rpc error: code = Unavailable desc = down'])
      expect(readErrorWords(text).isAnswered, text).to.equal(false)
  })

  it('tell of what another service does not do', () => {
    for (const line of ['Retrying call to payments', 'group mailer is lagging by <*> records', 'queue <*> has no consumers'])
      expect(waitsForOthers(line), line).to.equal(true)
    for (const line of ['order stored', 'flags loaded', 'entry retried never']) expect(waitsForOthers(line), line).to.equal(false)
  })

  it('are told without marks around reasons and sites; of a URL no path', () => {
    expect(withOpenReasons('POST "http://payments:8080/of/ada?token=7" failed: "disk full"')).to.equal(
      'POST http://payments:8080 failed: disk full',
    )
    expect(withOpenReasons('no cart of "Ada"')).to.equal('no cart of "Ada"')
  })

  it('hide no name of code that Ruby quotes', () => {
    expect(withOpenReasons("undefined method `plan_name' for nil:NilClass")).to.equal('undefined method plan_name for nil:NilClass')
  })

  it('are masked beside the status of an answer, the codes of errors and known names', () => {
    for (const text of [
      'requests.exceptions.HTTPError: 429 Client Error: Too Many Requests',
      'googleapi: Error 429: Quota exceeded',
      'https response error StatusCode: 503',
      'tls: failed to verify certificate: x509: certificate has expired',
      'operation error S3: PutObject',
      'Disk is full (OS errno 28 - No space left on device)',
      'ORA-00942: table or view does not exist',
    ])
      expect(maskBesideStatus(text, maskMessage), text).to.equal(text)
    expect(maskBesideStatus('order 503 of user x50 failed with code 404', maskMessage)).to.equal(
      'order <*> of user x<*> failed with code 404',
    )
  })

  it('tell that a server lost a process of its own', () => {
    for (const text of [
      '[1] [ERROR] Worker (pid:31) was sent SIGKILL! Perhaps out of memory?',
      "Process 'ForkPoolWorker-3' pid:118 exited with 'signal 9 (SIGKILL)'",
      'worker process 31 exited on signal 9',
      'server process (PID 118) was terminated by signal 9: Killed',
    ])
      expect([tellsWorkerKill(text), readErrorWords(text).sense], text).to.deep.equal([true, 'own'])
    expect(tellsWorkerKill('worker process 31 exited on signal 15')).to.equal(false)
  })

  it('name where their reason stands', () => {
    const text = 'could not store the order: no space left on device'
    const { from, to } = reasonIn(text)!
    expect(text.slice(from, to)).to.equal('no space left')
    expect(reasonIn('order stored')).to.equal(undefined)
    const pool = 'HikariPool-1 - Connection is not available, request timed out after 30000ms'
    expect(pool.slice(reasonIn(pool)!.from)).to.match(/^Connection is not available/)
  })

  it('are understood in other languages', () => {
    for (const text of [
      '写入失败：磁盘空间不足',
      'Kein Speicherplatz mehr auf dem Gerät',
      'недостаточно памяти',
      'メモリが不足しています',
      'no queda espacio',
    ])
      expect(readErrorWords(text).sense, text).to.equal('own')
  })

  it('of a state that lasts are known, and its end is none', () => {
    expect(tellsLastingState('disk resource limit alarm set on node rabbit@mq-0')).to.equal(true)
    expect(tellsLastingState('memory resource limit alarm cleared on node rabbit@mq-0')).to.equal(false)
    const stuck = [
      'kernel: <*> INFO: task jbd<*>/nvme<*>n<*>-<*>:<*> blocked for more than <*> seconds.',
      'nvme nvme1: I/O 118 QID 4 timeout, completion polled',
      'EXT4-fs error (device nvme1n1): comm node: Detected aborted journal',
    ]
    for (const line of stuck) expect([tellsLastingState(line), readErrorWords(line).sense], line).to.deep.equal([true, 'own'])
    expect(tellsLastingState('task import blocked for 3 seconds by a lock')).to.equal(false)
    expect(readErrorWords('memory resource limit alarm cleared on node rabbit@mq-0').sense).to.equal('plain')
  })

  it('without those that tell who asked', () => {
    expect(readErrorWords('failed to handle request from orders: checksum').withoutCallers).to.not.contain('orders')
    expect(readErrorWords('error response from payments').withoutCallers).to.contain('payments')
  })

  it('take a bounded time, whatever comes', () => {
    const startedMs = performance.now()
    for (const text of ['a', 'a.', '://', 'host=', ' timeout', 'request from ', 'disk full sql', 'x', 'status ', 'a:1 ', 'connect '])
      readErrorWords(text.repeat(100_000))
    expect(performance.now() - startedMs).to.be.below(2_000)
  })
})
