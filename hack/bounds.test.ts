import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect } from 'chai'
import { SETTINGS } from '../dataplane/contract/env.ts'

const root = resolve(import.meta.dirname, '..')
const PAGE = 'docs/bounds.md'

interface Row {
  readonly bound: string
  /** Its value without the unit. */
  readonly value: number
  /** `file#CONSTANT`, or the name of a setting. */
  readonly where: string
}

function readRows(page: string): readonly Row[] {
  return page
    .split('\n')
    .filter(line => line.startsWith('|') && !line.startsWith('|---') && !line.startsWith('| bound |'))
    .map(line => {
      const [bound = '', value = '', where = ''] = line
        .split('|')
        .slice(1, -1)
        .map(cell => cell.trim())
      return { bound, value: Number.parseFloat(value.replaceAll(',', '')), where: where.replaceAll('`', '') }
    })
}

/** The value of a numeric constant of a file; names in its expression are constants of the same file. */
function constantOf(code: string, name: string): number {
  const declared = new RegExp(`^(?:export )?const ${name}(?:: \\w+)? = ([^\\n;/]+)`, 'm').exec(code)?.[1]
  if (declared === undefined) throw new Error(`no constant ${name}`)
  const expression = declared.replace(/\b[A-Z][A-Z0-9_]*\b/g, other => String(constantOf(code, other)))
  if (!/^[\d_\s.*+\-()<e]+$/.test(expression)) throw new Error(`${name} is no number: ${declared}`)
  return Number(new Function(`return ${expression}`)())
}

function valueAt(where: string): number {
  const [file = '', name] = where.split('#')
  if (name !== undefined) {
    if (!existsSync(resolve(root, file))) throw new Error(`no file ${file}`)
    return constantOf(readFileSync(resolve(root, file), 'utf8'), name)
  }
  const setting: { readonly default?: string } | undefined = (SETTINGS as Record<string, { readonly default?: string }>)[where]
  if (setting === undefined) throw new Error(`no setting ${where}`)
  return Number(setting.default)
}

describe(PAGE, () => {
  for (const { bound, value, where } of readRows(readFileSync(resolve(root, PAGE), 'utf8'))) {
    it(`says what the code says: ${bound}`, () => {
      expect(valueAt(where), where).to.equal(value)
    })
  }
})
