import { once } from 'node:events'
import { connect } from 'node:net'
import { expect } from 'chai'
import { afterEach, describe, it } from 'mocha'
import { createTransport, type SendMailOptions } from 'nodemailer'
import { useStubCaller } from '../testing/stub-caller.ts'

describe('the stub mail server', () => {
  const at = useStubCaller()
  afterEach(() => at.call('email', 'DELETE /_stub/state'))

  const send = async (mail: SendMailOptions, pass = 'demo-password') => {
    const transport = createTransport({ ...at.stubs.addresses.smtp, auth: { user: 'demo', pass } })
    try {
      await transport.sendMail({ from: 'lp@example.com', to: 'oncall@example.com', subject: 'checkout', text: 'down', ...mail })
      return 'sent'
    } catch (error) {
      return (error as { responseCode?: number; code?: string }).responseCode ?? (error as { code?: string }).code
    } finally {
      transport.close()
    }
  }
  type Mail = { readonly subject: string; readonly text: string; readonly html: string; readonly deliveries: number }
  const threads = () => (at.stubs.state('email')['threads'] as readonly { mails: readonly Mail[] }[]).map(({ mails }) => mails)

  it('keeps subject, text and HTML as they were written', async () => {
    const subject = `[critical] 結帳 is down ${'ü'.repeat(80)}`
    const text = 'one\n\ntwo: 結帳 🔥 = ok'
    expect(await send({ subject, text, html: '<p>two &lt;b&gt;</p>' })).to.equal('sent')
    const [[mail]] = threads() as [[Mail]]
    expect(mail).to.include({ subject, text, html: '<p>two &lt;b&gt;</p>', deliveries: 1 })
  })

  it('keeps a thread by References, and shows a message that comes again once', async () => {
    await send({ messageId: '<open@lp>' })
    await send({ messageId: '<other@lp>' })
    for (let sent = 0; sent < 2; sent++)
      await send({ messageId: '<ack@lp>', subject: 'Re: checkout', inReplyTo: '<open@lp>', references: ['<open@lp>'] })
    expect(threads().map(mails => mails.map(({ subject, deliveries }) => `${subject} ${deliveries}`))).to.deep.equal([
      ['checkout 1'],
      ['checkout 1', 'Re: checkout 2'],
    ])
  })

  it('refuses wrong credentials: 535', async () => {
    expect(await send({}, 'wrong')).to.equal(535)
  })

  it('outlives a sender that is gone in the midst of a mail', async () => {
    const uncaught: unknown[] = []
    const note = (error: unknown) => uncaught.push(error)
    process.on('unhandledRejection', note)
    const { host, port } = at.stubs.addresses.smtp
    const socket = connect(port, host)
    const logIn = `AUTH PLAIN ${Buffer.from('\0demo\0demo-password').toString('base64')}`
    for (const line of ['EHLO sender', logIn, 'MAIL FROM:<lp@example.com>', 'RCPT TO:<oncall@example.com>', 'DATA']) {
      await once(socket, 'data')
      socket.write(`${line}\r\n`)
    }
    await once(socket, 'data')
    socket.end('Subject: half a mail\r\n')
    await once(socket, 'close')
    expect(await send({})).to.equal('sent')
    process.off('unhandledRejection', note)
    expect(uncaught).to.deep.equal([])
    expect(threads().flat()).to.have.length(1)
  })

  it('fails as it is told: with a code, by a break before or after the mail was taken', async () => {
    at.stubs.fault('email', { kind: 'status', status: 451 })
    at.stubs.fault('email', { kind: 'status', status: 550, on: 'RCPT' })
    at.stubs.fault('email', { kind: 'reset' })
    at.stubs.fault('email', { kind: 'reset', afterAccepting: true })
    expect(await send({ messageId: '<1@lp>' })).to.equal(550)
    expect(await send({ messageId: '<1@lp>' })).to.equal(451)
    expect(await send({ messageId: '<1@lp>' })).to.be.a('string')
    expect(threads()).to.deep.equal([])
    expect(await send({ messageId: '<1@lp>' })).to.be.a('string')
    expect(await send({ messageId: '<1@lp>' })).to.equal('sent')
    expect(threads().map(([mail]) => mail!.deliveries)).to.deep.equal([2])
  })
})
