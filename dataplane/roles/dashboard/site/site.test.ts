import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { request } from 'undici'
import { type DashboardFixture, startDashboardFixture } from '../testing/dashboard-fixture.ts'
import { openSite } from './site.ts'

const CODE = `console.log(1)\n${'// so that it is worth packing\n'.repeat(100)}`

describe('the pages of the dashboard', () => {
  let dashboard: DashboardFixture
  let directory: string
  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'site-'))
    mkdirSync(join(directory, 'console/assets'), { recursive: true })
    writeFileSync(join(directory, 'secret.txt'), 'secret')
    writeFileSync(join(directory, 'console/index.html'), '<!doctype html><title>Console</title>')
    writeFileSync(join(directory, 'console/assets/index-B2x9Qw1z.js'), CODE)
    dashboard = await startDashboardFixture({ site: openSite([join(directory, 'none'), join(directory, 'console')]) })
  })
  after(async () => {
    await dashboard.stop()
    rmSync(directory, { recursive: true })
  })

  const get = async (path: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' | 'POST' = 'GET') => {
    const answer = await request(dashboard.url + path, { method, headers })
    return { status: answer.statusCode, headers: answer.headers, bytes: Buffer.from(await answer.body.arrayBuffer()) }
  }

  it('are those of the console', async () => {
    const { status, headers, bytes } = await get('/')
    expect(status).to.equal(200)
    expect(headers).to.include({ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' })
    expect(String(bytes)).to.contain('Console')
  })

  it('are the index for a place within the console, and 404 for a file that is not there', async () => {
    const html = { accept: 'text/html,application/xhtml+xml' }
    expect(String((await get('/incidents/42', html)).bytes)).to.contain('Console')
    for (const [
      path,
      headers,
    ] of [['/incidents/42', {}], ['/assets/none.js', html], ['/secret.txt', html], ['/%2e%2e/secret.txt', html], ['/assets', {}]] as const) // biome-ignore format: one line
      expect((await get(path, headers)).status).to.be.oneOf([404, 400])
  })

  it('are kept for a year where their name changes with what they hold', async () => {
    const { headers } = await get('/assets/index-B2x9Qw1z.js')
    expect(headers).to.include({ 'cache-control': 'public, max-age=31536000, immutable', 'content-type': 'text/javascript; charset=utf-8' })
  })

  it('are not sent again to who has them', async () => {
    const { headers } = await get('/')
    const again = await get('/', { 'if-none-match': String(headers['etag']) })
    expect(again.status).to.equal(304)
    expect(again.bytes).to.have.length(0)
  })

  it('are packed as the browser can unpack them', async () => {
    const path = '/assets/index-B2x9Qw1z.js'
    const [br, gzip, plain] = [
      await get(path, { 'accept-encoding': 'gzip, deflate, br' }),
      await get(path, { 'accept-encoding': 'gzip, br;q=0' }),
      await get(path),
    ]
    expect([br.headers['content-encoding'], gzip.headers['content-encoding'], plain.headers['content-encoding']]).to.deep.equal([
      'br',
      'gzip',
      undefined,
    ])
    expect([brotliDecompressSync(br.bytes), gunzipSync(gzip.bytes), plain.bytes].map(String)).to.deep.equal([CODE, CODE, CODE])
  })

  it('answer HEAD, and nothing else', async () => {
    const head = await get('/', {}, 'HEAD')
    expect([head.status, head.bytes.length, head.headers['content-length']]).to.deep.equal([200, 0, '37'])
    const post = await get('/', {}, 'POST')
    expect([post.status, post.headers['allow']]).to.deep.equal([405, 'GET, HEAD'])
  })
})

describe('the page of a console that is not built', () => {
  let dashboard: DashboardFixture
  before(async () => {
    dashboard = await startDashboardFixture()
  })
  after(() => dashboard.stop())

  it('holds no script and no style of its own, what it names is there, and it says how to build the console', async () => {
    const page = await (await fetch(`${dashboard.url}/`)).text()
    expect(page).to.not.match(/<script(?![^>]*src=)|<style| on\w+=| style=/)
    for (const [, path] of page.matchAll(/(?:src|href)="(\/[\w.-]+)"/g)) expect((await fetch(dashboard.url + path!)).status).to.equal(200)
    expect(page).to.contain('npm run build')
  })
})
