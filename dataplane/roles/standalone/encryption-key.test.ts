import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { readOrMakeEncryptionKey } from './encryption-key.ts'

describe('the encryption key of standalone', () => {
  let directory: string
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'key-'))
  })
  afterEach(() => rmSync(directory, { recursive: true }))

  it('is made once in DATA_DIR, 32 bytes in base64, mode 0600', () => {
    const key = readOrMakeEncryptionKey(directory)
    expect(Buffer.from(key, 'base64')).to.have.length(32)
    expect(statSync(join(directory, 'encryption-key')).mode & 0o777).to.equal(0o600)
    expect(readOrMakeEncryptionKey(directory)).to.equal(key)
    expect(readdirSync(directory)).to.deep.equal(['encryption-key'])
    expect(readFileSync(join(directory, 'encryption-key'), 'utf8')).to.equal(`${key}\n`)
  })

  it('is made anew where a start was killed while it was made', () => {
    writeFileSync(join(directory, 'encryption-key.new'), 'half')
    expect(Buffer.from(readOrMakeEncryptionKey(directory), 'base64')).to.have.length(32)
    expect(readdirSync(directory)).to.deep.equal(['encryption-key'])
  })

  it('that is no key ends the start, naming the file and not what it holds', () => {
    writeFileSync(join(directory, 'encryption-key'), 'hush')
    expect(() => readOrMakeEncryptionKey(directory)).to.throw(/encryption-key: expected 32 bytes in base64.*, seen something else$/)
  })

  it('that cannot be read ends the start', function () {
    if (process.getuid?.() === 0) this.skip()
    writeFileSync(join(directory, 'encryption-key'), '')
    chmodSync(join(directory, 'encryption-key'), 0)
    expect(() => readOrMakeEncryptionKey(directory)).to.throw(/expected a file that can be read, seen EACCES/)
  })
})
