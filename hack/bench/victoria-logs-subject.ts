/** VictoriaLogs as a peer: a binary the user brings (`--peer PATH`), fed over OTLP protobuf. */
import { startServer } from './server-process.ts'
import { fetchText, type QueryName, type Subject } from './subject.ts'

const LAST_HOUR = '_time:1h'

export async function startVictoriaLogs(binary: string): Promise<Subject> {
  const server = await startServer(
    (port, dataDir) => ({
      command: binary,
      args: [`-storageDataPath=${dataDir}`, `-httpListenAddr=127.0.0.1:${port}`, '-loggerLevel=ERROR'],
    }),
    '/health',
  )
  const address = `http://127.0.0.1:${server.port}`
  const query = (logsQl: string, limit = 50) =>
    fetchText(`${address}/select/logsql/query?${new URLSearchParams({ query: logsQl, limit: String(limit) })}`)
  const newest = (filter: string) => query(`${LAST_HOUR} ${filter} | sort by (_time desc) limit 50`)
  const histogram = (filter: string) =>
    fetchText(`${address}/select/logsql/hits?${new URLSearchParams({ query: `${LAST_HOUR} ${filter}`, step: '1m' })}`)

  return {
    name: 'VictoriaLogs',
    pid: server.pid,
    dataDir: server.dataDir,
    target: protocol =>
      protocol === 'http-protobuf' ? { protocol, host: '127.0.0.1', port: server.port, path: '/insert/opentelemetry/v1/logs' } : undefined,
    async count() {
      const { n } = JSON.parse(await query('* | stats count() n')) as { readonly n: string }
      return Number(n)
    },
    async newestMessages(word) {
      const lines = await query(`${LAST_HOUR} ${word} | sort by (_time desc) limit 500`, 500)
      return lines
        .split('\n')
        .filter(line => line !== '')
        .map(line => (JSON.parse(line) as { readonly _msg: string })._msg)
    },
    async queries(rareWord) {
      const byName: Record<Exclude<QueryName, 'by id'>, () => Promise<unknown>> = {
        'newest 50, a word': () => newest('HikariPool'),
        'newest 50, a phrase': () => newest('"slow acquisition of"'),
        'a rare word': () => newest(rareWord),
        'histogram, 1 h by minute': () => histogram('*'),
        'histogram with a word': () => histogram('HikariPool'),
        'level and time range': () => newest('severity:ERROR'),
      }
      return byName
    },
    remove: () => server.remove(),
  }
}
