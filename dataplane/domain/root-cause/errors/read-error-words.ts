/** Reads the words of an error: a cause of its own, a complaint of a service that was called, or nothing but that something failed (Decisions 6). */

/**
 * `own`: names a reason that lies where it happens. `callee`: a service that was called did not answer, or answered with an error. `vague`: nothing but
 * that something failed. `plain`: anything else.
 */
export type ErrorSense = 'own' | 'callee' | 'vague' | 'plain'

export interface ErrorWords {
  readonly sense: ErrorSense
  /** Hosts that it names with a port, in a URL, as what it looked up, or as a workload; small letters, at most 5. */
  readonly hosts: readonly string[]
  /** Those of them that stand in a URL which it called. */
  readonly sites: readonly string[]
  /** A name was not resolved: rather a fault of the name service than of the one that was looked up. */
  readonly isUnresolved: boolean
  /** The name service did not answer, rather than that nobody has the name. */
  readonly isLookupUnanswered: boolean
  /** The name that was not resolved, as far as it is told. */
  readonly unresolvedName: string | undefined
  /** The database, cache or broker whose client complains that it is not there, or passes on what it was told; as in `db.system`. */
  readonly system: string | undefined
  /** Nobody answered, and the text does not tell who should have. */
  readonly isUnanswered: boolean
  /** Somebody answered with a status of failure, and the text does not tell who. */
  readonly isAnswered: boolean
  /** The client of a cloud's API passes on what it was answered. */
  readonly isOfCloud: boolean
  /** A message could not be sent: a broker does not take it. */
  readonly isOfSending: boolean
  /** A pool has no free connection. */
  readonly isPoolEmpty: boolean
  /** The certificate of the other end does not hold: it did not get its call, either. */
  readonly refusesPeer: boolean
  /** The speaker could not even call: the services that it names did nothing. */
  readonly isOfNearEnd: boolean
  /** The text without those words that tell who asked, and of what: `request from orders`, `topic orders.paid`. */
  readonly withoutCallers: string
}

const MAX_CHARACTERS = 1_024
const MAX_HOSTS = 5

/** The kernel waits for a disk in vain. */
const STUCK_DISK =
  /\btask .{1,120} blocked for more than (?:\d+|<\*>) seconds|\bI\/O .{1,40}\btimeout, (?:completion polled|aborting|reset)|\baborted journal\b/i

/** Resources that are used up or missing, data that is broken: in the words of systems, runtimes and databases. */
const STATE: readonly RegExp[] = [
  /out ?of ?memory|\boom[- ]?kill|cannot allocate memory|insufficient memory|\bmemoryerror\b|bad_alloc|java heap space|gc overhead limit|\boom command not allowed|used memory > '?maxmemory/i,
  /no space left|\benospc\b|disk (?:is )?full|disk quota|table is full|transaction log .{0,80}is full|unable to extend|could not (?:extend|write to) file|read-only (?:file system|transaction)/i,
  /flood[- ]stage|disk usage exceeded|disk space is insufficient|low on resource|storage usage exceeds|input\/output error/i,
  /conntrack: table full|pleg (?:is|was) not healthy|container runtime is down|node is not ready|exceeded quota/i,
  // Systems of other languages: Chinese, Japanese, Korean, German, French, Spanish, Portuguese, Italian, Russian.
  /磁盘(?:空间)?(?:不足|已满)|没有(?:剩余)?空间|内存不足|(?:ディスク|容量|メモリ|領域).{0,8}(?:不足|いっぱい|ありません)|(?:디스크|메모리|공간).{0,8}부족/,
  /kein speicherplatz|nicht (?:genügend|genug) (?:arbeits|haupt)?speicher|espace (?:disque )?insuffisant|plus (?:de place|d.espace)|mémoire insuffisante/i,
  /no queda espacio|espacio insuficiente|memoria insufficiente|memoria insuficiente|espaço (?:em disco )?insuficiente|spazio esaurito|недостаточно (?:памяти|места)|нет места/i,
  /unable to persist|\bcorrupt|checksum mismatch|bad magic|data loss/i,
  /partitioned_network|network partition|split[- ]brain|lost quorum|quorum (?:is |was )?lost/i,
  /resource limit alarm(?! cleared)|memory_high_watermark set|free bytes: \d+\. limit/i,
  /too many (?:clients|connections|open files)|max number of clients reached|\bemfile\b|remaining connection slots/i,
  // Brokers, and stores of settings.
  /maximum (?:\w{1,20} ){0,2}(?:bytes|messages|consumers|connections|storage) exceeded|resource limits exceeded|insufficient (?:storage )?resources|database space exceeded/i,
  /\bdeadlock\b|lock wait timeout/i,
  STUCK_DISK,
]

/** Resources of the speaker, also while a database is asked. */
const OWN_STATE = /open files|\bemfile\b|java heap space|gc overhead limit|\bmemoryerror\b|bad_alloc/i

/** The near end of a connection fails, before the far one hears of it: no port is left, or no descriptor for the socket. */
const NEAR_END =
  /can(?:not|'t) assign requested address|\beaddrnotavail\b|\b(?:connect|connection|socket|socketexception|dial)\b.{0,120}(?:too many open files|\be[mn]file\b|no buffer space available|\benobufs\b)/i

/** The platform tells of a workload that it fails, and hardly why. */
const PLATFORM =
  /\bback-off (?:restarting|pulling)|failed to pull image|imagepullbackoff|errimagepull|crashloop|(?:liveness|readiness|startup) probe failed/i

/** A certificate that does not hold, in the words of either end. */
const BAD_CERTIFICATE =
  'certificate (?:has |is )?expired|certificate.{0,40}not yet valid|path validation failed|remote certificate (?:is|was) invalid|zertifikat (?:ist )?abgelaufen|certificat (?:a )?expiré|certificado (?:ha )?(?:caducado|expirado)|证书已?过期|証明書の有効期限'

/** A server tells that one of its own processes was killed. */
const WORKER_KILL = /\b(?:worker|process|child)\b.{0,80}\b(?:sigkill|signal:? (?:9|killed))\b/i

/** Reasons that lie with the one who says them, also where a server said them first: rights, certificates, crashes, settings. */
const OWN: readonly RegExp[] = [
  /permission denied|\beacces\b|access denied for user|password authentication failed/i,
  new RegExp(`${BAD_CERTIFICATE}|tls: (?:bad|expired) certificate`, 'i'),
  /nullpointer|nullreference|object reference not set|nil pointer|segmentation fault|sigsegv|index out of (?:range|bounds)|stack ?overflow|assertion failed|\bpanic:/i,
  // A message that was taken, and cannot be read: its broker did its part.
  /deseriali[sz]/i,
  /cannot read propert|is not a function|keyerror|typeerror|valueerror|unsatisfied dependency|error creating bean|missing required (?:property|environment|config)|invalid configuration/i,
  /clock skew|requesttimetooskewed|difference between the request time|used before issued/i,
  // A process that cannot start: nobody reaches it.
  /\bmigrations? (?:\S{1,120} )?(?:has |have )?failed\b|\bfailed to (?:apply|run) (?:\w{1,20} ){0,2}migrations?\b|\bapplication (?:run failed|failed to start)\b|\bstart-?up (?:was |has )?(?:aborted|failed)\b/i,
  /\b(?:secret|configmap) "?[\w.-]{1,253}"? not found|mountvolume\.setup failed|failed calling webhook/i,
  // A server that takes no more at once, by a limit of its own.
  /\bworker_connections are not enough|server reached (?:pm\.)?max|maximum concurrent connection limit|listen queue of .{1,100} full/i,
  // A server whose worker was ended from outside, most often by the kernel for its memory.
  WORKER_KILL,
  PLATFORM,
]

/** In the words of TLS clients. */
const PEER = new RegExp(`${BAD_CERTIFICATE}|certificate_?[ ]?verify failed|failed to verify certificate`, 'i')
/** The other end says it, of the speaker's own. */
const PEER_REFUSES = /\bhandshake error from\b|\bremote error: tls\b|\balert (?:number|certificate)\b/i

/** Names by which clients of databases and caches begin what their server told them: the state that it tells of is that of the server. */
const CLIENT =
  /\b(?:pq: |pgx|psycopg|sqlstate|\w{0,40}sql\w{0,40}exception|\w{0,40}dataaccess\w{0,40}exception|operationalerror|activerecord::|pg::|mongo\w{0,40}(?:error|exception)|replyerror|misconf redis|oom command not allowed|jedis\w{0,40}exception|redis\.exceptions|elasticsearch\.|opensearchpy|cluster_block_exception|circuit_breaking_exception|nats: |nats\.errors|etcdserver: |rediserror|redis::|queryfailederror|sequelize\w{0,40}error|prismaclient)/i

/** Packages and exceptions of clients, by the system that they ask. */
const CLIENTS_OF: readonly (readonly [string, RegExp])[] = [
  [
    'postgresql',
    /\bpsqlexception|org\.postgresql|psycopg|asyncpg|\bpq: |\bpgx|\bpg::|npgsql|\bthe database system is (?:starting|shutting|in recovery|not)|due to administrator command|\bconnection terminated (?:due to connection timeout|unexpectedly)/i,
  ],
  ['mysql', /mysqlconnector|mysqlexception|com\.mysql|pymysql|mysql2|mysqldb|\brunning with the --(?:super-)?read-only option/i],
  [
    'redis',
    /misconf redis|oom command not allowed|jedis|lettuce|redis\.exceptions|\bredisconnection|\breplyerror|stackexchange\.redis|\brediserror\b|\bredis::|\breadonly you can't write|\bredis is loading the dataset|\bmasterdown link/i,
  ],
  ['rabbitmq', /\bamqp|\bpika\./i],
  ['kafka', /org\.apache\.kafka|kafkaexception|kafkajs|confluent[._]kafka|since batch creation/i],
  ['mongodb', /mongo\w{0,40}(?:error|exception)/i],
  ['memcached', /memcache|\bdalli::|\benyim\./i],
  ['elasticsearch', /elasticsearch\.|elasticsearch\w{0,40}exception|opensearchpy|opensearch\w{0,40}exception/i],
  ['nats', /\bnats: |\bnats\.errors\b|\bio\.nats\./i],
  ['etcd', /\betcdserver: |\betcd3\.exceptions\b/i],
  ['cassandra', /com\.datastax\.|\bcassandra\.(?:cluster|protocol)|\bgocql: |\bscylla::/i],
  // The only one that there is.
  ['database', /\bdatabase\b|\bdatenbank|\bbase de (?:données|datos)\b|\bbanco de dados\b|数据库|データベース/i],
]
/** Ports by which an address tells the system behind it, where nothing else does. */
const PORTS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    postgresql: '5432 6432',
    mysql: '3306',
    'microsoft.sql_server': '1433',
    oracle: '1521',
    mongodb: '27017',
    redis: '6379 26379',
    memcached: '11211',
    rabbitmq: '5671 5672',
    kafka: '9092 9093',
    elasticsearch: '9200',
    cassandra: '9042',
  }).flatMap(([system, ports]) => ports.split(' ').map(port => [port, system] as const)),
)
const ADDRESS = /(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}:(\d{4,5})\b/

/** A client has no connection. */
const CUT_OFF =
  /exception opening socket|server selection (?:timed out|error)|no server (?:is )?available|server has failed and is disabled|unable to connect|could not connect|\bconnection terminated\b|can(?:not|'t) connect|connect(?:ion)? (?:attempt )?failed|channel is already closed|not present in metadata|has passed since batch creation|\bnats: (?:timeout|no re|no servers)|\b(?:read|write|request) ?timeout(?:exception|error)?\b/i
/** A server refuses everybody. */
const REFUSED =
  /statement timeout|lock timeout|terminating connection|\brunning with the --(?:super-)?read-only option|the database system is|not ?enough ?(?:in-sync )?replicas|not ?(?:writable ?)?primary|no primary\b|cluster_block_exception|circuit_breaking_exception|\bclusterdown\b|\breadonly you can't write|\bredis is loading the dataset|\bmasterdown link|\betcdserver: (?:leader changed|no leader|too many requests)/i

/** The far end of a call told that it failed. */
const ANSWER = /\b(?:returned|responded|replied|answered|status(?: code)?)\b.{0,60}\b5\d\d\b|\[5\d\d\] during/i

/** The same in the words of HTTP clients, for a request that was refused as well: they name nobody. */
const CLIENT_ANSWER =
  /\brpc error: code = (?:internal|unknown|invalidargument|notfound|alreadyexists|permissiondenied|unauthenticated|resourceexhausted|failedprecondition|aborted|outofrange|unimplemented|dataloss)\b|\bstatusruntimeexception: (?:internal|unknown|invalid_argument|not_found|already_exists|permission_denied|unauthenticated|resource_exhausted|failed_precondition|aborted|out_of_range|unimplemented|data_loss)\b|\bhttp(?:client|server)errorexception\b|\bfeignexception\b|\brequest failed with status code [45]\d\d\b|\bstatus code does not indicate success\b|\bunexpected (?:http )?status(?: code)?:? [45]\d\d\b|\b[45]\d\d (?:client|server) error\b/i

/**
 * A service that was called answers with an error, or is not there. A connection that is refused, reset or late is none of these by itself: its other end may
 * be outside of all that logs, and then the service that wrote the error is as near as one gets.
 */
const CALLEE: readonly RegExp[] = [
  CLIENT_ANSWER,
  /\b(?:(?<!resource temporarily )unavailable|unreachable|upstream|downstream|bad gateway|gateway time-?out|remote|dependency|callee|no healthy)\b/i,
  ANSWER,
  // Each traceback of Python says `most recent call last`.
  /\b(?:(?<!most recent )call(?:ing)? \S|error from |response from )/i,
]

/** How a server tells of a request that it answered itself: `HTTP POST /orders responded 500 in 12 ms`. */
const ANSWERED = /\bHTTP [A-Z]{3,7} \/\S{0,200} responded (?:\d{3}|<\*>)/g
/** The kernel ends what uses up its memory. */
const KILLED = /\bkilled process\b/i

/** The kernel or the kubelet tells of a process that was killed for its memory. */
const OOM_KILL = /\bkilled process\b|\bsystem oom encountered\b|\boom[-_ ]?kill/i
/** The platform starts a container again and again. */
const RESTARTS = /\bback-off\b.{0,40}\brestarting\b|crashloop/i

/** A proxy tells the URL that it was asked for as well. */
const PROXY = /\b(?:up|down)stream\b/i

const UNRESOLVED =
  /\blookup \S+ (?:on|:)|name resolution|unknownhost|\benotfound\b|getaddrinfo|name or service not known|no such host|servfail|nxdomain|name does not resolve|could not (?:resolve host|be resolved|translate host name)|failed to (?:resolve ['"]|lookup address)|\bhost not found/i

const LOOKUP_UNANSWERED = /\beai_again\b|temporary failure|servfail|server misbehaving|i\/o timeout|timed? ?out\b/i

/** Waiting for a connection of one's own pool is no complaint of anybody. */
const OWN_POOL = /pool\b/i

/** The side that asked is no suspect. */
const CALLERS =
  /\b(?:request|call|message|event|connection|command|query)s? (?:received )?(?:from|by|of)\s+\S+|\b(?:serving|on behalf of|requested by|called by|client:?)\s+\S+/gi
/** Tables, and topics of several words, are named for what they hold, as services are. One named for a service alone may be its own. */
const NAMES_OF_THINGS =
  /\b(?:table|relation|column|collection|bucket)[=: "'`]{1,4}[\w.@/-]{1,200}|\b(?:topic|queue|exchange|subject|routing[_ ]key|partition)(?: name)?[=: "'`]{1,4}\w{1,100}[._/][\w.@/-]{1,200}/gi

/** Words that say that something failed, and no more. */
const VAGUE = new Set(
  (
    'a an and the of to in with for by at on is was be has have it this that not no could can cannot unable error errors exception fault failed failure fail ' +
    'fails failing internal server request requests response call operation operations unexpected unknown something went wrong status code http https process ' +
    'processing handle handling get post put delete patch while during execute executing complete completing place placing giving up give retry retrying ' +
    'attempt attempts abort aborted reject rejected step ms sec seconds axioserror runtimeexception runtimeerror'
  ).split(' '),
)
/** A vague message names a thing that failed, at most. */
const MAX_TELLING = 1

/** `isOfStore`: a database or a cache was asked, as attributes of the error tell. */
export function readErrorWords(message: string, isOfStore = false): ErrorWords {
  const text = message.slice(0, MAX_CHARACTERS)
  const hosts = hostsOf(text, HOSTS)
  const isUnresolved = UNRESOLVED.test(text)
  return {
    sense: senseOf(text, isOfStore),
    hosts,
    sites: PROXY.test(text) ? [] : hostsOf(text, [SITE]),
    isUnresolved,
    isLookupUnanswered: isUnresolved && LOOKUP_UNANSWERED.test(text),
    unresolvedName: isUnresolved ? (hostsOf(text, LOOKED_UP)[0] ?? hosts[0]) : undefined,
    system: systemOf(text),
    isUnanswered: UNANSWERED.test(text) && !GIVEN_UP.test(text) && hosts.length === 0 && !MASKED_PORT.test(text) && !isPoolEmpty(text),
    isAnswered: CLIENT_ANSWER.test(text) && hosts.length === 0,
    isOfCloud: CLOUD.test(text),
    isOfSending: SENDING.test(text),
    isPoolEmpty: isPoolEmpty(text),
    refusesPeer: PEER.test(text) && !PEER_REFUSES.test(text),
    isOfNearEnd: isOfNearEnd(text),
    withoutCallers: text.replaceAll(CALLERS, ' ').replaceAll(NAMES_OF_THINGS, ' '),
  }
}

/** In the words of the clients of clouds, which name an operation rather than a host. */
const CLOUD =
  /\ban error occurred \(\w{1,80}\) when calling the \w{1,80} operation\b|\(service: (?:amazon|aws)\w{0,40}[,;]|\boperation error [\w ]{1,60}: \w{1,80}, |\bazure\.core\.exceptions\.|\bgoogle\.api_core\.exceptions\.|\bcom\.google\.(?:api\.gax|cloud)\.|\bcom\.azure\.\w/i

/** Networks that fail: of whom it tells is open, that it happened is a reason. */
const NETWORK = /connection (?:refused|reset|timed out|closed)|\beconn(?:refused|reset)\b|i\/o timeout|deadline exceeded|timed out/i
/** Clients that give up in words of their own. */
const UNANSWERED = new RegExp(
  `${NETWORK.source}|\\b(?:time-?out|deadline_?exceeded|e(?:socket)?timedout|no (?:answer|response|reply))\\b`,
  'i',
)
/** All connections of a pool are taken. */
const POOL_EMPTY =
  /connection is not available, request timed out|unable to acquire (?:jdbc )?connection|waiting for (?:a |an |free |idle ){0,2}connection|pool ?limit of size|pool (?:is )?(?:exhausted|empty)|no connections? (?:is |are )?available|getting a connection from the pool|timed out acquiring|knex: timeout acquiring/i
const isPoolEmpty = (text: string) => POOL_EMPTY.test(text) || (OWN_POOL.test(text) && UNANSWERED.test(text))
const SENDING = /\b(?:publish(?:ing)?|produc(?:e|ing)|enqueue(?:ing)?)\b/i
/** A database gives up on a statement, and answers so. */
const GIVEN_UP = /(?:statement|lock|lock wait) timeout/i
/** Databases tell of statements that took long. */
const SLOW_STATEMENT =
  /\bslow (?:query|queries|log|command|statement)|\bduration: \S{1,40} ms {1,2}(?:statement|execute|parse|bind)|\bquery_time: |\bslow ?log\b|"durationMillis":|\bplanSummary: |\btook too long\b|\blong[- ]running (?:query|statement|transaction)/i

/** Whether a line of a database tells of a statement that took long. */
export function tellsSlowStatement(pattern: string): boolean {
  return SLOW_STATEMENT.test(pattern.slice(0, MAX_CHARACTERS))
}

/** Runtimes tell that nothing ran for a while: a collector, threads that are all taken, a clock that leapt. */
const STALL =
  /\bpause (?:full|remark|cleanup|init)|\b(?:detected|long|longest|total) (?:gc )?pause|\bfull gc\b|\bmark-(?:sweep|compact)\b|stop[- ]the[- ]world|\bsafepoint\b|\bgc overhead\b|\bcollecting in the last\b|\boverhead, spent\b|heartbeat has been running|(?:event|main) ?loop (?:is |was )?(?:blocked|lag|delay|stalled)|\bthread starvation\b|\bclock leap\b|\bunresponsive for\b/i

/** Whether a line tells that its process stood still. */
export function tellsStall(pattern: string): boolean {
  return STALL.test(pattern.slice(0, MAX_CHARACTERS))
}

/** A host whose port is masked, in a pattern. */
const MASKED_PORT = /\w:<\*>/
/** A URL is told up to where it leads: paths and queries name users. */
const WHOLE_SITE = /^https?:\/\/[\w.:-]{1,200}(?=[/?#]|$)/
/** Clients of Python name whom they asked in quotes. */
const QUOTED_HOST = /\bhost='([a-z][\w.-]{0,252})'/gi
/** Ruby quotes names of its code by two marks, of which the first would hide all up to the next one. */
const QUOTED_BY_RUBY = /`([a-z_][\w ]{0,80}[?!=]?)'/gi
/** An apostrophe within a word is no mark. */
const QUOTED = /(["`]|(?<![\p{L}\d])'(?=[^']{1,200}'(?![\p{L}\d])))((?:(?!\1)[^\\]){1,200})\1/gu

/** The text without the marks around quoted reasons: a mask of all that is quoted would hide why something failed. */
export function withOpenReasons(text: string): string {
  const isReason = (words: string) => [NETWORK, NEAR_END, REFUSED, ...STATE, ...OWN].some(reason => reason.test(words))
  return text
    .replaceAll(QUOTED_HOST, 'host=$1')
    .replaceAll(QUOTED_BY_RUBY, '$1')
    .replaceAll(QUOTED, (quoted, _mark, words: string) => WHOLE_SITE.exec(words)?.[0] ?? (isReason(words) ? words : quoted))
}

/** The kernel tells it at any level. */
const KERNEL_KILL = /\bout of memory: killed process (?:\d|<\*>)|\boom-kill:constraint=/i

export function tellsKernelKill(text: string): boolean {
  return KERNEL_KILL.test(text.slice(0, MAX_CHARACTERS))
}

/** Killed for its memory: the kernel knows the process, and hardly the service. */
export function tellsOomKill(text: string): boolean {
  const start = text.slice(0, MAX_CHARACTERS)
  return OOM_KILL.test(start) && !RESTARTS.test(start)
}

/** The kernel keeps so much of a process's name. */
export const MAX_PROCESS_NAME = 15
const KILLED_PROCESS = new RegExp(
  `\\bkilled process (?:\\d+|<\\*>),? \\(([\\w.-]{1,${MAX_PROCESS_NAME}})\\)|\\boom-kill:.{0,400}\\btask=([\\w.-]{1,${MAX_PROCESS_NAME}}),`,
  'i',
)

/** The name of the process that the kernel killed for its memory; most are those of a language. */
export function killedProcess(text: string): string | undefined {
  const [, process, task] = KILLED_PROCESS.exec(text.slice(0, MAX_CHARACTERS)) ?? []
  return process ?? task
}

/** Whether a server tells that one of its own processes was killed. */
export function tellsWorkerKill(text: string): boolean {
  return WORKER_KILL.test(text.slice(0, MAX_CHARACTERS))
}

/** Restarted again and again: the platform knows the service, and hardly the reason. */
export function tellsRestarts(text: string): boolean {
  return RESTARTS.test(text.slice(0, MAX_CHARACTERS))
}

/** States that last until somebody ends them: said once, they hold. */
const LASTING = new RegExp(
  `${STUCK_DISK.source}|${/no space left|disk (?:is )?full|read-only file system|flood[- ]stage|disk space is insufficient|resource limit alarm set|memory_high_watermark set|running_partitioned_network|lost quorum|conntrack: table full/.source}`,
  'i',
)

export function tellsLastingState(text: string): boolean {
  return LASTING.test(text.slice(0, MAX_CHARACTERS))
}

/** A server answers no more than so much. */
const LIMITED =
  /\bslow ?down\b|reduce your request rate|too many (?:concurrent )?requests|rate ?limit|rate exceeded|throttl(?:ed|ing)|quota .{0,40}exceeded|exceeded .{0,40}quota|larger than max|\b(?:message|entity|payload) too (?:large|long)|\bis sealed\b/i

/** Where the reason stands that an error names: the first place of its strongest words; undefined without any. */
export function reasonIn(text: string): { readonly from: number; readonly to: number } | undefined {
  for (const words of [NEAR_END, ...OWN, ...STATE, POOL_EMPTY, LIMITED, NETWORK, REFUSED]) {
    const found = words.exec(text)
    if (found !== null) return { from: found.index, to: found.index + found[0].length }
  }
  return undefined
}

/** Whether it tells why, and not only that something fails. */
export function namesReason(text: string): boolean {
  const start = text.slice(0, MAX_CHARACTERS)
  return [NEAR_END, ...OWN, ...STATE].some(words => words !== PLATFORM && words.test(start))
}

/** An HTTP status of a failure, where a message tells it as such. */
const STATUS = [
  /(?<=(?:->|\b(?:status|error|answered(?: with)?|returned|responded(?: with)?|failed(?: with)?|HTTP\/\d(?:\.\d)?"?)|code)[:=]? )[45]\d\d\b/,
  /\b[45]\d\d(?= (?:client error|server error|bad request|unauthorized|forbidden|not found|conflict|too many requests|internal server error|bad gateway|service unavailable|gateway time-?out)\b)/,
]
/** Names and codes with digits: a reader knows `x509`, and what to look for under `errno 28`. */
const NAMES = /(?<![\w.-])(?:x509|s3|ec2|k8s|ipv[46]|oauth2|sha256)(?![\w-])|(?<=\berrno[ :=]{1,2})\d{1,3}\b|\b(?:ORA|MY)-\d{5,6}\b/
const SHOWN = new RegExp([...STATUS, NAMES].map(({ source }) => source).join('|'), 'gi')
/** Stand for digits that no mask takes for such. */
const PRIVATE_USE = 0xe000

/** Masks a message, but for the status of an answer and the codes of errors: whether it was 401, 429 or 503 is the reason. */
export function maskBesideStatus(message: string, mask: (text: string) => string): string {
  const shown = message.replaceAll(SHOWN, words => words.replaceAll(/\d/g, digit => shifted(digit, PRIVATE_USE - ZERO)))
  return mask(shown).replaceAll(/[\ue000-\ue009]/g, digit => shifted(digit, ZERO - PRIVATE_USE))
}

const ZERO = 48
const shifted = (digit: string, by: number) => String.fromCharCode(digit.charCodeAt(0) + by)

const LOGIN =
  /password authentication failed|access denied for user|login failed for user|authentication failed|\bwrongpass\b|invalid username-password/i

/** Questions to a database that no database answers: what they name is not there, they cannot be read, or what they write breaks a rule of the data. */
const WRONG_QUESTION =
  /\b(?:column|relation|table|function|type|schema|collection|view) \S{1,200}(?: of relation \S{1,200})? does not exist|\bunknown column\b|\bno such (?:table|column)\b|\binvalid (?:column|object) name\b|\btable \S{1,200} doesn't exist|\bsyntax error at or near\b|you have an error in your sql syntax|ora-00904|ora-00942|\bviolates (?:unique|foreign key|not-null|check|exclusion) constraint\b|\bduplicate (?:entry \S{1,200} for key|key error collection)\b|\bcannot insert duplicate key\b|\bforeign key constraint fails\b|\b(?:unique|not null|check|foreign key) constraint failed\b|\binvalid input syntax for\b|\bvalue too long for type\b|\bdata too long for column\b|ora-00001|ora-0229[012]/i

export function asksWrongly(text: string): boolean {
  return WRONG_QUESTION.test(text.slice(0, MAX_CHARACTERS))
}

/** A server, or the client that passes it on, tells that a client may not come in. */
export function refusesLogin(text: string): boolean {
  return LOGIN.test(text.slice(0, MAX_CHARACTERS))
}

/** Unless the far end said so of itself, in its answer. */
const isOfNearEnd = (text: string) => NEAR_END.test(text) && !ANSWER.test(text.replaceAll(ANSWERED, ' '))

function senseOf(text: string, isOfStore: boolean): ErrorSense {
  if (isOfNearEnd(text)) return 'own'
  if (KILLED.test(text)) return 'callee'
  if (OWN.some(words => words.test(text))) return 'own'
  if (STATE.some(words => words.test(text))) return CLIENT.test(text) || (isOfStore && !OWN_STATE.test(text)) ? 'callee' : 'own'
  if (UNRESOLVED.test(text)) return 'callee'
  const withoutAnswer = text.replaceAll(ANSWERED, ' ')
  if (CALLEE.some(words => words.test(withoutAnswer)) && !OWN_POOL.test(text)) return 'callee'
  return isVague(text) ? 'vague' : 'plain'
}

/** Lines, of any level, that tell of what another service does not do: a client that tries again, a broker whose messages nobody takes. */
const WAITING = /\bretry(?:ing)?\b|\blag(?:s|ging)?\b|\bbacklog\b|\bno consumers?\b|\bmessages ready\b|\bcircuit ?breaker\b/i

/** Whether a line that is new, or comes more often, is rather the effect of a fault elsewhere. */
export function waitsForOthers(pattern: string): boolean {
  return WAITING.test(pattern)
}

function systemOf(text: string): string | undefined {
  const complains = [NETWORK, CUT_OFF, REFUSED, ...STATE].some(words => words.test(text)) && !OWN_POOL.test(text)
  return complains ? (CLIENTS_OF.find(([, client]) => client.test(text))?.[0] ?? PORTS.get(ADDRESS.exec(text)?.[1] ?? '')) : undefined
}

function isVague(text: string): boolean {
  const { all, telling } = countWords(text)
  return telling < all && telling <= MAX_TELLING
}

/** `request failed`: words of any error. */
export function tellsNothing(text: string): boolean {
  return countWords(text.slice(0, MAX_CHARACTERS)).telling === 0
}

/** The line of an HTTP request: what was asked for tells nothing of why it failed. */
const REQUEST_LINE = /\b(GET|HEAD|POST|PUT|PATCH|DELETE) \S{1,400}(?: HTTP\/[\d.]{1,3})?/g

function countWords(text: string): { readonly all: number; readonly telling: number } {
  const words =
    text
      .replaceAll(REQUEST_LINE, '$1')
      .toLowerCase()
      .match(/[\p{L}_]{2,}/gu) ?? []
  return { all: words.length, telling: words.filter(word => !VAGUE.has(word)).length }
}

/** A name is at most 253 characters; it begins with a letter. */
const HOST = '([a-z](?:[\\w.-]{0,252}\\w)?)'
const SITE = new RegExp(`\\w://(?:[^\\s/@"']{1,100}@)?${HOST}`, 'gi')
/** A resolver tells which name it was asked for. */
const LOOKED_UP: readonly RegExp[] = [
  new RegExp(
    `\\b(?:lookup |ENOTFOUND |EAI_AGAIN |UnknownHostException: |resolve host:? |failed to resolve |translate host name |host not found in upstream |getaddrinfo for )["']?${HOST}`,
    'gi',
  ),
  new RegExp(`(?<![\\w./-])${HOST} could not be resolved`, 'gi'),
]
const HOSTS: readonly RegExp[] = [
  SITE,
  new RegExp(`(?<![\\w./-])${HOST}(?:/[\\d.]{7,15})?:\\d{2,5}\\b`, 'gi'),
  new RegExp(`\\bhost=["']?${HOST}`, 'gi'),
  ...LOOKED_UP,
  // The platform tells of a workload: `Back-off restarting failed container payments in pod payments-7d9f5c4b8d-x2v4p`.
  new RegExp(`\\b(?:container|pod|deployment|replicaset|statefulset|daemonset)[ =:/"']{1,3}(?:[\\w-]{1,63}/)?${HOST}`, 'gi'),
]

/** A frame of a stack trace: `OrderService.java:118`. */
const SOURCE_FILE = /\.(?:java|kt|scala|groovy|go|py|[cm]?[jt]sx?|rb|cs|fs|php|rs|cpp|cc|exs?|erl)$/i

function hostsOf(text: string, patterns: readonly RegExp[]): readonly string[] {
  const hosts = new Set<string>()
  for (const pattern of patterns)
    for (const [, host] of text.matchAll(pattern)) {
      if (hosts.size === MAX_HOSTS) return [...hosts]
      if (SOURCE_FILE.test(host!)) continue
      hosts.add(host!.toLowerCase())
    }
  return [...hosts]
}
