import { expect } from 'chai'
import { describe, it } from 'mocha'
import { attributesDigest, buildDocumentId, DOCUMENT_NAMESPACE, type RecordContent } from './document-id.ts'

const CONTENT: RecordContent = {
  resourceDigest: 'r',
  scopeDigest: 's',
  attributes: '["a"]1',
  severityText: 'ERROR',
  severityNumber: 17,
  message: 'm',
}
const UUID5 = /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

describe("the id of a record's document", () => {
  it('is a UUIDv5, the same for the same record by whichever path', () => {
    const id = buildDocumentId('acme', 'l1', CONTENT)
    expect(id).to.match(UUID5)
    expect(buildDocumentId('acme', 'l1', { ...CONTENT })).to.equal(id)
    expect(DOCUMENT_NAMESPACE).to.match(UUID5)
  })

  it('differs with tenant, log_id and each part of the content, so that records never overwrite each other', () => {
    const others = Object.entries(CONTENT).map(([name, value]) => ({
      ...CONTENT,
      [name]: typeof value === 'number' ? value + 1 : `${value}x`,
    }))
    const ids = [buildDocumentId('acme', 'l1', CONTENT), buildDocumentId('other', 'l1', CONTENT), buildDocumentId('acme', 'l2', CONTENT)]
    ids.push(...others.map(content => buildDocumentId('acme', 'l1', content)))
    expect(new Set(ids).size).to.equal(ids.length)
  })

  it('does not confuse texts that end where others begin', () => {
    const moved = { ...CONTENT, severityText: 'ERRO', message: 'Rm' }
    expect(buildDocumentId('acme', 'l1', moved)).not.to.equal(buildDocumentId('acme', 'l1', CONTENT))
  })

  it('takes attributes in a stable order', () => {
    const digest = attributesDigest(
      new Map([
        ['a', '1'],
        ['b', '2'],
      ]),
    )
    expect(
      attributesDigest(
        new Map([
          ['b', '2'],
          ['a', '1'],
        ]),
      ),
    ).to.equal(digest)
    expect(
      attributesDigest(
        new Map([
          ['a', '2'],
          ['b', '1'],
        ]),
      ),
    ).not.to.equal(digest)
  })
})
