/** Prints the names of the chart's files that are made; `--write` makes them anew. `--tools` fetches and builds what the chart and the operator are tried with (minutes). */
import { mkdirSync, writeFileSync } from 'node:fs'
import { findTool, TOOLS, type ToolName } from '../dataplane/testing/real/go-tools.ts'
import { CHART, chartFiles } from '../operator/chart/testing/chart-files.ts'
import { foreignSchemas, kubernetesSchemas } from '../operator/chart/testing/chart-schemas.ts'
import { findExternalSecrets } from '../operator/testing/external-secrets.ts'

const TOOLS_LIMIT_MS = 60 * 60_000

const writes = process.argv.includes('--write')
for (const [path, text] of Object.entries(chartFiles())) {
  const file = new URL(path, CHART)
  console.log(`charts/logpipeline/${path}`)
  if (!writes) continue
  mkdirSync(new URL('.', file), { recursive: true })
  writeFileSync(file, text)
}
if (process.argv.includes('--tools')) {
  for (const name of Object.keys(TOOLS) as ToolName[]) console.log(await findTool(name, TOOLS_LIMIT_MS))
  console.log(await findExternalSecrets(TOOLS_LIMIT_MS))
  console.log(await kubernetesSchemas(TOOLS_LIMIT_MS))
  console.log(await foreignSchemas(TOOLS_LIMIT_MS))
}
