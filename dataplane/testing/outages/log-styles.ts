/** Lines as programs of several languages write them by their usual loggers, and what their HTTP clients say when a call fails. */

export type Level = 'debug' | 'info' | 'warn' | 'error'

export interface Line {
  readonly level: Level
  readonly text: string
  /** The exception, with its message. */
  readonly thrown?: string
}

/** The fate of a call, as the caller sees it: an HTTP status, or nothing that answers. */
export type CallFailure = number | 'timeout' | 'refused' | 'certificate' | 'unknown name'

export interface Called {
  readonly host: string
  readonly port: number
  readonly path: string
}

export interface LogStyle {
  write(timeMs: number, name: string, line: Line): string
  /** The exception of the client of a call. */
  failedCall(called: Called, failure: CallFailure): string
  /** The exception of the client of a database or a cache: the words of the server, else that it does not answer. */
  failedStore(system: Store, called: Called, tells: string | undefined): string
}

export type Store = 'postgresql' | 'redis'

const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
}
const reasonOf = (status: number) => REASONS[status] ?? 'Error'
const iso = (timeMs: number) => new Date(timeMs).toISOString()
const urlOf = ({ host, port, path }: Called) => `http://${host}:${port}${path}`
const camel = (name: string) => name.replaceAll(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase())

/** Spring says the words of an exception, and its name behind the stack alone. */
function causedBy(thrown: string): string {
  const [, why] = /I\/O error on POST request for "[^"]+": (.+)$/.exec(thrown) ?? []
  if (why === undefined) return ''
  const name = why.startsWith('Read')
    ? 'java.net.SocketTimeoutException'
    : why.startsWith('Connection')
      ? 'java.net.ConnectException'
      : why.startsWith('PKIX')
        ? 'javax.net.ssl.SSLHandshakeException'
        : 'java.net.UnknownHostException'
  return `\nCaused by: ${name}: ${why}\n\tat java.base/sun.nio.ch.NioSocketImpl.connect(NioSocketImpl.java:592)`
}

const ofJava = ({ host, port, path }: Called, failure: CallFailure): string => {
  const url = `http://${host}:${port}${path}`
  const io = (why: string) => `org.springframework.web.client.ResourceAccessException: I/O error on POST request for "${url}": ${why}`
  if (failure === 'timeout') return io('Read timed out')
  if (failure === 'refused') return io('Connection refused')
  if (failure === 'unknown name') return io(host)
  if (failure === 'certificate')
    return io('PKIX path validation failed: java.security.cert.CertPathValidatorException: validity check failed')
  const client = failure < 500 ? 'HttpClientErrorException' : 'HttpServerErrorException'
  return `org.springframework.web.client.${client}$${reasonOf(failure).replaceAll(' ', '')}: ${failure} ${reasonOf(failure)}: [no body]`
}

const ofGo = (called: Called, failure: CallFailure): string => {
  const post = `Post "${urlOf(called)}"`
  if (failure === 'timeout') return `${post}: context deadline exceeded (Client.Timeout exceeded while awaiting headers)`
  if (failure === 'refused') return `${post}: dial tcp 10.96.14.7:${called.port}: connect: connection refused`
  if (failure === 'unknown name')
    return `${post}: dial tcp: lookup ${called.host} on 10.96.0.10:53: read udp 10.1.4.2:38211->10.96.0.10:53: i/o timeout`
  if (failure === 'certificate')
    return `${post}: tls: failed to verify certificate: x509: certificate has expired or is not yet valid: current time 2026-03-03T04:00:11Z is after 2026-03-03T04:00:00Z`
  return `unexpected status code ${failure} from ${called.host}`
}

const ofPython = (called: Called, failure: CallFailure): string => {
  const { host, port, path } = called
  const pool = `HTTPConnectionPool(host='${host}', port=${port})`
  if (failure === 'timeout') return `requests.exceptions.ReadTimeout: ${pool}: Read timed out. (read timeout=5)`
  if (failure === 'refused')
    return `requests.exceptions.ConnectionError: ${pool}: Max retries exceeded with url: ${path} (Caused by NewConnectionError('<urllib3.connection.HTTPConnection object at 0x7f1c9a3e5d90>: Failed to establish a new connection: [Errno 111] Connection refused'))`
  if (failure === 'unknown name')
    return `requests.exceptions.ConnectionError: ${pool}: Max retries exceeded with url: ${path} (Caused by NameResolutionError("<urllib3.connection.HTTPConnection object at 0x7f1c9a3e5d90>: Failed to resolve '${host}' ([Errno -3] Temporary failure in name resolution)"))`
  if (failure === 'certificate')
    return `requests.exceptions.SSLError: HTTPSConnectionPool(host='${host}', port=${port}): Max retries exceeded with url: ${path} (Caused by SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: certificate has expired (_ssl.c:1006)')))`
  return `requests.exceptions.HTTPError: ${failure} ${failure < 500 ? 'Client' : 'Server'} Error: ${reasonOf(failure)} for url: ${urlOf(called)}`
}

const ofNode = ({ host, port }: Called, failure: CallFailure): string => {
  if (failure === 'timeout') return 'AxiosError: timeout of 5000ms exceeded'
  if (failure === 'refused') return `Error: connect ECONNREFUSED 10.96.14.7:${port}`
  if (failure === 'unknown name') return `Error: getaddrinfo EAI_AGAIN ${host}`
  if (failure === 'certificate') return 'Error: certificate has expired'
  return `AxiosError: Request failed with status code ${failure}`
}

const ofDotnet = ({ host, port }: Called, failure: CallFailure): string => {
  if (failure === 'timeout')
    return 'System.Threading.Tasks.TaskCanceledException: The request was canceled due to the configured HttpClient.Timeout of 5 seconds elapsing.'
  if (failure === 'refused') return `System.Net.Http.HttpRequestException: Connection refused (${host}:${port})`
  if (failure === 'unknown name') return `System.Net.Http.HttpRequestException: Resource temporarily unavailable (${host}:${port})`
  if (failure === 'certificate')
    return 'System.Net.Http.HttpRequestException: The SSL connection could not be established, see inner exception. System.Security.Authentication.AuthenticationException: The remote certificate is invalid because of errors in the certificate chain: NotTimeValid'
  return `System.Net.Http.HttpRequestException: Response status code does not indicate success: ${failure} (${reasonOf(failure)}).`
}

type FailedStore = LogStyle['failedStore']
const storeOfJava: FailedStore = (system, { host, port }, tells) =>
  system === 'redis'
    ? `org.springframework.data.redis.RedisSystemException: Error in execution; nested exception is io.lettuce.core.RedisCommandExecutionException: ${tells ?? `Command timed out after 5 second(s)`}`
    : tells === undefined
      ? `org.postgresql.util.PSQLException: Connection to ${host}:${port} refused. Check that the hostname and port are correct and that the postmaster is accepting TCP/IP connections.`
      : `org.postgresql.util.PSQLException: ERROR: ${tells}`
const storeOfGo: FailedStore = (system, { host, port }, tells) =>
  system === 'redis'
    ? (tells ?? 'redis: connection pool timeout')
    : tells === undefined
      ? `dial tcp ${host}:${port}: i/o timeout`
      : `pq: ${tells}`
const storeOfPython: FailedStore = (system, { host, port }, tells) =>
  system === 'redis'
    ? tells === undefined
      ? `redis.exceptions.TimeoutError: Timeout reading from ${host}:${port}`
      : `redis.exceptions.ResponseError: ${tells}`
    : tells === undefined
      ? `psycopg2.OperationalError: connection to server at "${host}" (10.96.14.9), port ${port} failed: timeout expired`
      : `django.db.utils.OperationalError: ${tells}`
const storeOfNode: FailedStore = (system, _, tells) =>
  system === 'redis'
    ? `ReplyError: ${tells ?? 'Command timed out'}`
    : tells === undefined
      ? 'Error: Connection terminated due to connection timeout'
      : `error: ${tells}`
const storeOfDotnet: FailedStore = (system, { host, port }, tells) =>
  system === 'redis'
    ? tells === undefined
      ? `StackExchange.Redis.RedisTimeoutException: Timeout performing GET (5000ms), next: GET profile, inst: 0, qu: 0, serverEndpoint: ${host}:${port}`
      : `StackExchange.Redis.RedisServerException: ${tells}`
    : tells === undefined
      ? 'Npgsql.NpgsqlException (0x80004005): Exception while reading from stream ---> System.TimeoutException: Timeout during reading attempt'
      : `Npgsql.PostgresException (0x80004005): ${tells}`

const DOTNET_LEVELS: Readonly<Record<Level, string>> = { debug: 'dbug', info: 'info', warn: 'warn', error: 'fail' }
const PINO_LEVELS: Readonly<Record<Level, number>> = { debug: 20, info: 30, warn: 40, error: 50 }

const LOGSTASH_LEVELS: Readonly<Record<Level, number>> = { debug: 10_000, info: 20_000, warn: 30_000, error: 40_000 }
const SERILOG_LEVELS: Readonly<Record<Level, string>> = { debug: 'Debug', info: 'Information', warn: 'Warning', error: 'Error' }

export const LOG_STYLES = {
  logback: {
    write: (timeMs, name, { level, text, thrown }) => {
      const head =
        `${iso(timeMs).slice(0, 23)}Z ${level.toUpperCase().padStart(5)} 1 --- [${name}] [nio-8080-exec-${(timeMs % 9) + 1}] c.acme.${name.replaceAll('-', '')}.${camel(name)}Service`.replace(
          'Z ',
          '+00:00 ',
        )
      const trace =
        thrown === undefined
          ? ''
          : `\n\n${thrown}\n\tat com.acme.${name.replaceAll('-', '')}.${camel(name)}Service.handle(${camel(name)}Service.java:118)\n\tat java.base/java.lang.Thread.run(Thread.java:840)${causedBy(thrown)}`
      return `${head} : ${text}${trace}`
    },
    failedCall: ofJava,
    failedStore: storeOfJava,
  },
  zap: {
    write: (timeMs, name, { level, text, thrown }) =>
      JSON.stringify({
        level,
        ts: timeMs / 1_000,
        caller: `${name}/handler.go:${level === 'error' ? 142 : 87}`,
        msg: text,
        ...(thrown !== undefined && { error: thrown, stacktrace: `main.(*Server).handle\n\t/src/${name}/handler.go:142` }),
      }),
    failedCall: ofGo,
    failedStore: storeOfGo,
  },
  logrus: {
    write: (timeMs, name, { level, text, thrown }) =>
      `time="${iso(timeMs).slice(0, 19)}Z" level=${level === 'warn' ? 'warning' : level} msg=${JSON.stringify(text)} component=${name}${thrown === undefined ? '' : ` error=${JSON.stringify(thrown)}`}`,
    failedCall: ofGo,
    failedStore: storeOfGo,
  },
  python: {
    write: (timeMs, name, { level, text, thrown }) =>
      `${iso(timeMs).slice(0, 23).replace('T', ' ').replace('.', ',')} ${level === 'warn' ? 'WARNING' : level.toUpperCase()} ${name.replaceAll('-', '_')}.views ${text}${thrown === undefined ? '' : `\nTraceback (most recent call last):\n  File "/app/${name.replaceAll('-', '_')}/views.py", line 88, in handle\n    return self.process(request)\n${thrown}`}`,
    failedCall: ofPython,
    failedStore: storeOfPython,
  },
  pino: {
    write: (timeMs, name, { level, text, thrown }) =>
      JSON.stringify({
        level: PINO_LEVELS[level],
        time: timeMs,
        pid: 1,
        hostname: `${name}-6c8d`,
        msg: text,
        ...(thrown !== undefined && {
          err: { type: 'Error', message: thrown, stack: `${thrown}\n    at handle (/app/src/${name}.js:71:13)` },
        }),
      }),
    failedCall: ofNode,
    failedStore: storeOfNode,
  },
  logstash: {
    write: (timeMs, name, { level, text, thrown }) =>
      JSON.stringify({
        ...{ '@timestamp': iso(timeMs), '@version': '1', message: text },
        ...{
          logger_name: `com.acme.${name.replaceAll('-', '')}.${camel(name)}Service`,
          thread_name: `http-nio-8080-exec-${(timeMs % 9) + 1}`,
        },
        ...{ level: level.toUpperCase(), level_value: LOGSTASH_LEVELS[level] },
        ...(thrown !== undefined && {
          stack_trace: `${thrown}\n\tat com.acme.${camel(name)}Service.handle(${camel(name)}Service.java:118)${causedBy(thrown)}\n`,
        }),
      }),
    failedCall: ofJava,
    failedStore: storeOfJava,
  },
  structlog: {
    write: (timeMs, name, { level, text, thrown }) =>
      JSON.stringify({
        ...{ service: name, event: text, level: level === 'warn' ? 'warning' : level, timestamp: iso(timeMs), logger: `${name}.views` },
        ...(thrown !== undefined && {
          exception: `Traceback (most recent call last):\n  File "/app/views.py", line 88, in handle\n    return self.process(request)\n${thrown}`,
        }),
      }),
    failedCall: ofPython,
    failedStore: storeOfPython,
  },
  serilog: {
    write: (timeMs, name, { level, text, thrown }) =>
      JSON.stringify({
        ...{ '@t': iso(timeMs), '@m': text, '@i': 'a1b2c3d4' },
        ...(level !== 'info' && { '@l': SERILOG_LEVELS[level] }),
        ...(thrown !== undefined && { '@x': `${thrown}\n   at Acme.${camel(name)}.Handler.Handle() in /src/Handler.cs:line 61` }),
        SourceContext: `Acme.${camel(name)}.Handler`,
      }),
    failedCall: ofDotnet,
    failedStore: storeOfDotnet,
  },
  bunyan: {
    write: (timeMs, name, { level, text, thrown }) =>
      JSON.stringify({
        ...{ name, hostname: `${name}-6c8d`, pid: 1, level: PINO_LEVELS[level] },
        ...(thrown !== undefined && { err: { message: thrown, name: 'Error', stack: `${thrown}\n    at handle (/app/${name}.js:71:13)` } }),
        ...{ msg: text, time: iso(timeMs), v: 0 },
      }),
    failedCall: ofNode,
    failedStore: storeOfNode,
  },
  dotnet: {
    write: (_, name, { level, text, thrown }) =>
      `${DOTNET_LEVELS[level]}: Acme.${camel(name)}.Controllers.${camel(name)}Controller[0]\n      ${text}${thrown === undefined ? '' : `\n      ${thrown}\n         at Acme.${camel(name)}.Controllers.${camel(name)}Controller.Handle() in /src/Controller.cs:line 61`}`,
    failedCall: ofDotnet,
    failedStore: storeOfDotnet,
  },
  nginx: {
    write: (timeMs, _, { text }) =>
      text.startsWith('[') ? `${iso(timeMs).slice(0, 19).replaceAll('-', '/').replace('T', ' ')} ${text}` : text,
    failedCall: ({ path, host }, failure) => {
      const why =
        failure === 'timeout'
          ? 'upstream timed out (110: Operation timed out) while reading response header from upstream'
          : failure === 'unknown name'
            ? `${host} could not be resolved (110: Operation timed out)`
            : 'connect() failed (111: Connection refused) while connecting to upstream'
      return `[error] 31#31: *8812 ${why}, client: 10.1.0.17, server: _, request: "POST ${path} HTTP/1.1", upstream: "http://10.1.7.22:3000${path}", host: "www.acme.example"`
    },
    failedStore: () => '',
  },
} as const satisfies Record<string, LogStyle>

export type StyleName = keyof typeof LOG_STYLES
