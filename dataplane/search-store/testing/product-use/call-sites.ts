/** Every place in the product that asks the search store something. */
import { globSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname, '../../../..')
const CALL =
  /\b(?:store|search)\.(search|get|getMany|put|bulk|refresh|putIndexTemplate|putMapping|putAliases|listAliases|listIndices|indexSizes|indexCreations|deleteIndex|deleteByQuery|product|timeMs|clusterStatus|indexHealth)[<(]/g

/** As `file:line`, with the method that is called. */
export function findCallSites(): ReadonlyMap<string, string> {
  const sites = new Map<string, string>()
  for (const file of globSync('dataplane/{pipeline,roles}/**/*.ts', { cwd: ROOT })) {
    if (/\.(test|real)\.ts$|contract\.ts$|\/testing\//.test(file)) continue
    const code = readFileSync(resolve(ROOT, file), 'utf8')
    for (const { index, 1: method } of code.matchAll(CALL)) {
      const line = code.slice(0, index).split('\n').length
      sites.set(`${file}:${line}`, method!)
    }
  }
  return sites
}
