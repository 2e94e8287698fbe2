/** Holds each row of docs/bounds.md against the constant or the setting that the row names. */
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
  if (declared === undefined) throw new Error(`expected a top-level "const ${name} = …" in the file that the row names, found none`)
  const expression = declared.replace(/\b[A-Z][A-Z0-9_]*\b/g, other => String(constantOf(code, other)))
  if (!/^[\d_\s.*+\-()<e]+$/.test(expression))
    throw new Error(`${name}: expected a number or a product of numbers and constants of the same file, seen ${declared}`)
  return Number(new Function(`return ${expression}`)())
}

function valueAt(where: string): number {
  const [file = '', name] = where.split('#')
  if (name !== undefined) {
    if (!existsSync(resolve(root, file))) throw new Error(`${PAGE} names ${file}: expected a file of the repository, found none`)
    return constantOf(readFileSync(resolve(root, file), 'utf8'), name)
  }
  const setting: { readonly default?: string } | undefined = (SETTINGS as Record<string, { readonly default?: string }>)[where]
  if (setting === undefined) throw new Error(`${PAGE} names ${where}: expected file#CONSTANT, or a setting of dataplane/contract/env.ts`)
  return Number(setting.default)
}

describe(PAGE, () => {
  for (const { bound, value, where } of readRows(readFileSync(resolve(root, PAGE), 'utf8'))) {
    it(`says what the code says: ${bound}`, () => {
      const inCode = valueAt(where)
      expect(inCode, `${PAGE} says ${value}, ${where} is ${inCode}; change the row, or the code`).to.equal(value)
    })
  }
})
