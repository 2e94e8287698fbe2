/** Bounds the fields that tenants bring into an index of their logs. */
import { hash } from 'node:crypto'
import { keepBounded } from '../../limits/keep-bounded.ts'

/** Distinct custom fields that one tenant may bring into one daily index; later ones are folded (Decisions 4). */
const MAX_CUSTOM_KEYS = 300

/** Attributes that records get on their way here: senders did not choose them, so they do not count. */
const GIVEN: ReadonlySet<string> = new Set(['severity_text', 'record.ordinal', 'otel.scope.name', 'otel.scope.version'])

/** Tenants and days remembered at once; the one longest unused is forgotten. */
const MAX_REMEMBERED = 10_000
/** Characters of all fields that are remembered. */
const MAX_CHARACTERS = 33_554_432

/** Days whose indices have told names by refusals, and names of one day. */
const MAX_DAYS = 40
const MAX_TOLD = 1_000

/**
 * The words of a refusal: of a field that continues a name with a value, and of a value under a name that others continue. As a whole, and with names
 * that have no brackets or spaces alone: refusals repeat values and names of senders, who could write such words into them.
 */
const HAS_VALUE =
  /^400 \w+: Could not dynamically add mapping for field \[[^[\]\s]+\]\. Existing mapping for \[([^[\]\s]+)\] must be of type object but found \[\w+\]\.$/
const HAS_FIELDS = /^400 \w+: object mapping for \[([^[\]\s]+)\] tried to parse field \[[^[\]\s]+\] as object, but found a concrete value$/

/** Remembers which custom fields each tenant has in each daily index. */
export class CustomKeys {
  readonly #keys = new Map<string, Remembered>()
  /** Names in the index of a day, of all tenants, as refusals of the store told them. */
  readonly #told = new Map<string, Names>()
  #characters = 0

  /** The fields of one tenant and day. */
  of(tenant: string, day: string): ReadonlySet<string> {
    return this.#of(tenant, day).paths
  }

  /**
   * Whether a field is among the tenant's first of that day; it is from now on if there is room, and if no field holds a value under a name that
   * another continues: OpenSearch would refuse each record with such a field, and with it all attributes of the record.
   */
  admit(tenant: string, day: string, path: string): boolean {
    const told = this.#told.get(day)
    if (told !== undefined && collides(told, path, beginningsOf(path))) return false
    const keys = this.#of(tenant, day)
    if (keys.paths.has(path)) return true
    const begins = beginningsOf(path)
    const counts = GIVEN.has(path) ? 0 : 1
    if (keys.counted + counts > MAX_CUSTOM_KEYS || collides(keys, path, begins)) return false
    keys.counted += counts
    let characters = path.length
    keys.paths.add(path)
    for (const begin of begins) {
      if (keys.continued.has(begin)) continue
      keys.continued.add(begin)
      characters += begin.length
    }
    keys.characters += characters
    this.#characters += characters
    while (this.#characters > MAX_CHARACTERS && this.#keys.size > 1) this.#forgetOldest()
    return true
  }

  /**
   * Takes the name that the index of a day has otherwise from the reason of a refusal; whether it tells one that was not known. Indices are of all
   * tenants: one tenant's value under a name would fold all attributes of each record of another tenant that continues the name.
   */
  learn(day: string, reason: string): boolean {
    const [value, fields] = [HAS_VALUE, HAS_FIELDS].map(form => form.exec(reason)?.[1])
    const name = value ?? fields
    const told = this.#told.get(day) ?? { paths: new Set(), continued: new Set() }
    const kind = value === undefined ? told.continued : told.paths
    if (name === undefined || kind.has(name) || told.paths.size + told.continued.size >= MAX_TOLD) return false
    kind.add(name)
    keepBounded(this.#told, day, told, MAX_DAYS)
    return true
  }

  #of(tenant: string, day: string): Remembered {
    const id = `${day}/${tenant}`
    const keys = this.#keys.get(id) ?? { paths: new Set<string>(), continued: new Set<string>(), counted: 0, characters: 0 }
    this.#keys.delete(id)
    if (this.#keys.size >= MAX_REMEMBERED) this.#forgetOldest()
    this.#keys.set(id, keys)
    return keys
  }

  #forgetOldest(): void {
    const [oldest] = this.#keys
    if (oldest === undefined) return
    this.#keys.delete(oldest[0])
    this.#characters -= oldest[1].characters
  }
}

/** Fields that hold values, and names that such fields continue: `user` for `user.id`. */
interface Names {
  readonly paths: Set<string>
  readonly continued: Set<string>
}

/** The fields of one tenant and day. */
interface Remembered extends Names {
  /** Paths that count among `MAX_CUSTOM_KEYS`. */
  counted: number
  /** Length of all names in both sets. */
  characters: number
}

function collides({ paths, continued }: Names, path: string, begins: readonly string[]): boolean {
  return continued.has(path) || begins.some(begin => paths.has(begin))
}

/** `a` and `a.b` for `a.b.c`. */
function beginningsOf(path: string): readonly string[] {
  const begins: string[] = []
  for (let dot = path.indexOf('.'); dot !== -1; dot = path.indexOf('.', dot + 1)) begins.push(path.slice(0, dot))
  return begins
}

/** Hex digits of a key set's id. */
export const KEY_SET_LENGTH = 16

/** Names a list of keys by 16 hex digits, so that a list seen before is known without looking at it; '' for the empty list. */
export function keySetId(keys: readonly string[]): string {
  return keys.length === 0 ? '' : hash('sha1', JSON.stringify(keys), 'hex').slice(0, KEY_SET_LENGTH)
}
