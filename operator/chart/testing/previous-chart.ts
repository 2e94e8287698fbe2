/** A version of the chart that comes before the present one, for trials of its upgrade. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CHART } from './chart-files.ts'

export interface PreviousChart {
  readonly path: string
  close(): void
}

export const PREVIOUS_VERSION = '0.0.9'

/** The present chart, but for its version and a LogPipeline without `spec.logLevel`. */
export function makePreviousChart(): PreviousChart {
  const path = mkdtempSync(join(tmpdir(), 'previous-chart-'))
  cpSync(CHART, path, { recursive: true })
  edit(join(path, 'Chart.yaml'), /^version: .*$/m, `version: ${PREVIOUS_VERSION}`)
  edit(join(path, 'Chart.yaml'), /^appVersion: .*$/m, `appVersion: "${PREVIOUS_VERSION}"`)
  edit(join(path, 'templates/crds/logpipelines.yaml'), /^ {16}logLevel:\n(?: {18}.*\n)+/m, '')
  return { path, close: () => rmSync(path, { recursive: true }) }
}

function edit(file: string, part: RegExp, replacement: string): void {
  const text = readFileSync(file, 'utf8')
  if (!part.test(text)) throw new Error(`${file}: expected ${part}, which it does not hold`)
  writeFileSync(file, text.replace(part, replacement))
}
