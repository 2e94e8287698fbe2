import { expect } from 'chai'
import { describe, it } from 'mocha'
import { levelInText, saysError } from './level-in-text.ts'

describe('level in the text of a record without severity', () => {
  for (const line of [
    '<*> ERROR [main] com.shop.Orders: no charge',
    'ERROR:  deadlock detected',
    // JSON of zap, pino, ECS, Python, Cloud Logging, Serilog, .NET.
    '{"level":"error","ts":<*>,"msg":<*>}',
    '{"level":50,"time":<*>,"msg":<*>}',
    '{"@timestamp":<*>,"log.level":"ERROR","message":<*>}',
    '{"asctime": <*>, "levelname": "CRITICAL", "message": <*>}',
    '{"msg":<*>,"severity":"ERROR"}',
    '{"@t":<*>,"@mt":<*>,"@l":"Fatal"}',
    '{"EventId":<*>,"LogLevel":"Error","Category":<*>}',
    `{"@timestamp":<*>,"message":"${'a long message '.repeat(15)}","level":"ERROR"}`,
    // MongoDB.
    '{"t":{"$date":<*>},"s":"E",  "c":<*>,"id":<*>,"ctx":<*>,"msg":<*>}',
    '{"t":{"$date":"2026-03-03T04:00:01.123+00:00"},"s":"F",  "c":"CONTROL", "msg":"fatal assertion"}',
    // zap on a console, winston, a program behind syslog, Node.
    '<*>\terror\tshop/orders.go:<*>\tno charge',
    'error: no charge',
    '<*> <*> error: no charge',
    'Mar  <*> <*> web orders[<*>]: error: no charge',
    '(node:<*>) UnhandledPromiseRejectionWarning: no charge',
    '<*> UTC [<*>] FATAL:  sorry, too many clients already',
    '<*> [error] <*>#<*>: *<*> connect() failed',
    'time=<*> level=error msg=<*>',
    'Traceback (most recent call last):',
    'panic: runtime error: index out of range',
    '\u001b[<*>mERROR\u001b[<*>m [main] no charge',
    // Kubernetes, .NET, Celery, Monolog, Serilog, PHP, Rust.
    'E<*> <*>       <*> controller.go:<*>] <*> err=<*>',
    'F0303 04:00:01.123456       1 main.go:12] no configuration',
    'fail: Shop.Orders.Api[<*>]\n      no charge',
    '[<*> ERROR/MainProcess] Task shop.charge raised unexpected',
    '[<*>] production.ERROR: no charge {<*>:<*>}',
    '[<*> ERR] no charge',
    'PHP Fatal error:  Uncaught Error: no charge',
    '[<*>-Nov-<*> <*>] NOTICE: PHP message: PHP Fatal error:  Uncaught PDOException: refused',
    '<*> Logon       Error: <*>, Severity: <*>, State: <*>.',
    'thread <*> panicked at src/main.rs:<*>:',
    'Memory cgroup out of memory: Killed process <*> (java)',
    'Mar  <*> <*> web kernel: Out of memory: Killed process <*> (java)',
    'runtime: out of memory',
    // Programs that die, and lines of their stack traces that name an exception.
    'Unhandled exception. System.NullReferenceException: Object reference not set to an instance of an object.',
    'java.lang.IllegalStateException: no cart',
    'Caused by: java.net.ConnectException: Connection refused',
    'psycopg2.OperationalError: could not connect to server',
    'TypeError: Cannot read properties of undefined',
    'Error: connect ECONNREFUSED <*>',
    // Apache, and the levels of syslog by their long names.
    '[Tue Mar <*> <*> <*>] [mpm_event:error] [pid <*>:tid <*>] AH00484: server reached MaxRequestWorkers setting',
    '[Tue Mar 03 04:00:11.118 2026] [core:crit] [pid 1] AH00141: Could not initialize random number generator',
    '[<*>] app.EMERGENCY: no quorum [] []',
    '<*> ALERT cart: no quorum',
  ])
    it(`error: ${line}`, () => expect(saysError(line)).to.equal(true))

  for (const line of [
    'order received',
    '<*> INFO retrying after ERROR',
    'level=info msg=<*> last=ERROR',
    '<*> WARN  [main] errors of the last minute: <*>',
    'no ERRORS found',
    'NOTICE: PHP message: cache warmed',
    'out of memory: none',
    'page of Error: <*>, its severity: low',
    '<*>\tinfo\tshop/orders.go:<*>\tseen\terror\tbefore',
    'info: seen error: none',
    'attempts with an error: <*>',
    'warning: error: <*>',
    '{"level":"info","msg":<*>,"inner":{"level":"error"}}',
    '{"level":30,"msg":<*>}',
    '{"msg":"seen ERROR [main] before","level":"info"}',
    '{"@m":"level=error was asked for"}',
    '{"level":<*>,"msg":<*>}',
    '{"msg":<*>,"error":null}',
    '{"t":{"$date":<*>},"s":"I",  "c":<*>,"msg":<*>}',
    '{"room":<*>,"s":"E"}',
    '[warn] upstream is slow',
    'I<*> <*>       <*> controller.go:<*>] synced after ERROR',
    'info: Shop.Orders.Api[<*>]\n      ERROR page rendered',
    'E<*> is a street',
    'fail: <*> of <*>',
    'GET /ERROR/ answered',
    'ErrorHandler installed',
    'no Error: all is well',
    '',
  ])
    it(`none: ${line}`, () => expect(saysError(line)).to.equal(false))

  it('warnings of Kubernetes are errors, wherever the event tells its type', () => {
    for (const event of [
      '{"type":"Warning","reason":<*>,"message":<*>}',
      `{"metadata":{"name":${'<*>'.repeat(100)}},"reason": <*>,"type": "Warning"}`,
    ])
      expect(levelInText(event), event).to.equal('error')
    for (const line of ['{"type":"Warning","text":<*>}', '{"type":<*>,"reason":<*>}', 'no "type":"Warning","reason":<*>'])
      expect(levelInText(line), line).to.equal(undefined)
  })

  it('what is for those who look for mistakes is told by it too', () => {
    for (const line of [
      '<*> DEBUG [main] page rendered',
      'time=<*> level=debug msg=<*>',
      '{"level":20,"msg":<*>}',
      'dbug: Shop.Orders[<*>]',
    ])
      expect(levelInText(line), line).to.equal('debug')
    expect(levelInText('<*> INFO DEBUG is off')).to.equal(undefined)
  })

  it('warnings are told by the first level too', () => {
    const warnings = [
      '<*> <*> [Warning] Too many connections',
      '<*> [warning] <*> queue is long',
      'W<*> <*>       <*> controller.go:<*>] no space left',
      '{"level":40,"msg":<*>}',
      'time=<*> level=WARN msg=<*>',
      '{"t":{"$date":<*>},"s":"W",  "c":<*>,"msg":<*>}',
      // Redis, as it wrote it and as a pattern; Apache.
      '1:M 03 Mar 2026 04:00:11.118 # Background saving error',
      '<*>:M <*> Mar <*> <*> # Background saving error',
      '[<*>] [proxy:warn] [pid <*>] AH01144: No protocol handler was valid',
    ]
    expect(levelInText('1:M 03 Mar 2026 04:00:11.118 * DB saved on disk')).to.equal(undefined)
    for (const line of warnings) expect(levelInText(line), line).to.equal('warning')
    for (const line of ['<*> [ERROR] after a [Warning]', '<*> <*> [Note] [Warning] was seen', 'level=info msg=warning', ''])
      expect(levelInText(line), line).to.not.equal('warning')
    expect(saysError('<*> [Warning] [error] of others')).to.equal(false)
  })
})
