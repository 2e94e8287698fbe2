/** VictoriaLogs as a peer: a binary the user brings (`--peer PATH`), fed over OTLP protobuf. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from '../../e2e/standalone-process.ts'
import { fetchText, type QueryName, type Subject } from './subject.ts'

const LAST_HOUR = '_time:1h'

export async function startVictoriaLogs(binary: string): Promise<Subject> {
  const dataDir = mkdtempSync(join(tmpdir(), 'bench-victoria-logs-'))
  const port = await freePort()
  const child = spawn(binary, [`-storageDataPath=${dataDir}`, `-httpListenAddr=127.0.0.1:${port}`, '-loggerLevel=WARN'], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const gone = once(child, 'exit')
  const address = `http://127.0.0.1:${port}`
  await eventually(() => fetchText(`${address}/health`))

  const query = (logsQl: string, limit = 50) =>
    fetchText(`${address}/select/logsql/query?${new URLSearchParams({ query: logsQl, limit: String(limit) })}`)
  const newest = (filter: string) => query(`${LAST_HOUR} ${filter} | sort by (_time desc) limit 50`)
  const histogram = (filter: string) =>
    fetchText(`${address}/select/logsql/hits?${new URLSearchParams({ query: `${LAST_HOUR} ${filter}`, step: '1m' })}`)

  return {
    name: 'VictoriaLogs',
    pid: child.pid!,
    dataDir,
    target: protocol =>
      protocol === 'http-protobuf' ? { protocol, host: '127.0.0.1', port, path: '/insert/opentelemetry/v1/logs' } : undefined,
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
    async remove() {
      child.kill('SIGKILL')
      await gone
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}
