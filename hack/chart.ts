/** Prints the names of the chart's files that are made; `--write` makes them anew. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { CHART, chartFiles } from './operator/chart-files.ts'

const writes = process.argv.includes('--write')
for (const [path, text] of Object.entries(chartFiles())) {
  const file = new URL(path, CHART)
  console.log(`charts/logpipeline/${path}`)
  if (!writes) continue
  mkdirSync(new URL('.', file), { recursive: true })
  writeFileSync(file, text)
}
