import { ApiError } from '../api-error.ts'

const MAX_NAME_BYTES = 255

/** Why OpenSearch would not take the name of an index or alias; undefined when it would. */
function problemOf(name: string): string | undefined {
  if (name === '') return 'must not be empty'
  if (/[\\/*?"<>| ,]/.test(name)) return `must not contain the following characters [ , ", *, \\, <, |, ,, >, /, ?]`
  if (name.includes('#')) return `must not contain '#'`
  if (name.includes(':')) return `must not contain ':'`
  if (/^[_\-+]/.test(name)) return `must not start with '_', '-', or '+'`
  if (name === '.' || name === '..') return `must not be '.' or '..'`
  if (/[\u0000-\u001f\u007f]/.test(name)) return 'must not contain control characters'
  if (/[^\u0000-\u007f]/.test(name)) return 'must not contain characters beyond ASCII'
  if (Buffer.byteLength(name) > MAX_NAME_BYTES) return `index name is too long, (${Buffer.byteLength(name)} > ${MAX_NAME_BYTES})`
  return undefined
}

export function checkIndexName(name: string): void {
  const problem = problemOf(name) ?? (name !== name.toLowerCase() ? 'must be lowercase' : undefined)
  if (problem === undefined) return
  throw invalidIndexName(name, problem)
}

export function invalidIndexName(name: string, problem: string): ApiError {
  return new ApiError(400, 'invalid_index_name_exception', `Invalid index name [${name}], ${problem}`, {
    details: { index: name, index_uuid: '_na_' },
  })
}

export function checkAliasName(name: string): void {
  const problem = problemOf(name)
  if (problem !== undefined)
    throw new ApiError(400, 'invalid_alias_name_exception', `Invalid alias name [${name}]: ${problem}`, {
      details: { index: name, index_uuid: '_na_' },
    })
}
