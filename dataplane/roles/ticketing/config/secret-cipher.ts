/** Secrets as the search store keeps them: AES-256-GCM, bound to their place (Decisions 8). */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'

/** Where a secret belongs: a text that was encrypted for one place is good for no other. */
export interface SecretPlace {
  readonly tenant: string
  readonly section: 'platforms' | 'llm'
  /** Target id; the empty text for a model. */
  readonly target: string
  readonly field: string
}

export type Opened = { readonly ok: true; readonly secret: string } | { readonly ok: false; readonly problem: string }

export interface SecretCipher {
  /** False: there is no key, and `seal` must not be called. */
  readonly canSeal: boolean
  seal(place: SecretPlace, secret: string): string
  open(place: SecretPlace, sealed: string): Opened
}

const ALGORITHM = 'aes-256-gcm'
const FORM = 'v1'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** The first of the keys encrypts, each decrypts. None: nothing can be encrypted or decrypted. */
export function createSecretCipher(keys: readonly Uint8Array[]): SecretCipher {
  const byId = new Map(keys.map(key => [keyId(key), key]))
  const [first] = keys
  return {
    canSeal: first !== undefined,
    seal(place, secret) {
      if (first === undefined) throw new Error('ENCRYPTION_KEY: expected a key, since a secret is to be stored, seen none')
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv(ALGORITHM, first, nonce, { authTagLength: TAG_BYTES }).setAAD(dataOf(place))
      const bytes = Buffer.concat([nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()])
      return `${FORM}:${keyId(first)}:${bytes.toString('base64')}`
    },
    open(place, sealed) {
      const [form, id = '', text = ''] = sealed.split(':')
      if (form !== FORM) return { ok: false, problem: 'is stored in a form that this version does not know' }
      const key = byId.get(id)
      if (key === undefined) return { ok: false, problem: `was encrypted with the key ${id}, which ENCRYPTION_KEY does not hold` }
      try {
        return { ok: true, secret: decrypt(key, Buffer.from(text, 'base64'), dataOf(place)) }
      } catch {
        return { ok: false, problem: 'cannot be decrypted: it was changed, or belongs elsewhere' }
      }
    },
  }
}

/** Reads the setting `ENCRYPTION_KEY`. */
export function parseEncryptionKeys(text: string | undefined): readonly Uint8Array[] {
  return text === undefined ? [] : text.split(',').map(key => Buffer.from(key, 'base64'))
}

function decrypt(key: Uint8Array, bytes: Buffer, data: Buffer): string {
  const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES }).setAAD(data)
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
  return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]).toString('utf8')
}

/** Names a key without telling of it. */
function keyId(key: Uint8Array): string {
  return createHash('sha256').update('logpipeline key id').update(key).digest('hex').slice(0, 8)
}

function dataOf({ tenant, section, target, field }: SecretPlace): Buffer {
  return Buffer.from(JSON.stringify([tenant, section, target, field]))
}
