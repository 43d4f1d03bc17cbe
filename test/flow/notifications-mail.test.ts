// People are told by mail where the operator named a mail server: over verified TLS, with nothing of the request in it, and nobody waits for it.
import { chmod, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { SMTPServer } from 'smtp-server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createMailer } from '../../src/notifications/adapters/smtp.ts'
import type { SmtpConfig } from '../../src/core/config.ts'
import { type ActionsClient, type Body, createActionsClient } from '../support/actions.ts'
import { createTestCa } from '../support/ca.ts'
import { createWorld, startTestGateway, type TestGateway, type World } from '../support/gateway.ts'

interface Received {
  readonly from: string
  readonly to: readonly string[]
  readonly user: string | undefined
  readonly isSecure: boolean
  readonly text: string
}

interface TestMailServer {
  readonly port: number
  readonly received: Received[]
  readonly attempts: { count: number }
  fail: { code: number } | 'silent' | undefined
  close(): Promise<void>
}

/** A real SMTP server on loopback. */
async function startMailServer(
  leaf: { key: string; cert: string },
  options: { secure?: boolean; hideTls?: boolean } = {},
): Promise<TestMailServer> {
  const received: Received[] = []
  const attempts = { count: 0 }
  const state: Pick<TestMailServer, 'fail'> = { fail: undefined }
  const server = new SMTPServer({
    ...leaf,
    secure: options.secure ?? false,
    ...(options.hideTls && { hideSTARTTLS: true, disabledCommands: ['STARTTLS'] }),
    authOptional: true,
    closeTimeout: 50,
    onConnect(_session, done) {
      attempts.count++
      if (state.fail !== 'silent') done()
    },
    onAuth({ username, password }, _session, done) {
      if (username === 'gateway' && password === 'mail-secret') done(null, { user: username })
      else done(new Error('wrong'))
    },
    onRcptTo(_address, _session, done) {
      const { fail } = state
      if (typeof fail === 'object') done(Object.assign(new Error('not now'), { responseCode: fail.code }))
      else done()
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => void chunks.push(chunk))
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope
        received.push({
          from: mailFrom ? mailFrom.address : '',
          to: rcptTo.map(({ address }) => address),
          user: typeof session.user === 'string' ? session.user : undefined,
          isSecure: session.secure,
          text: Buffer.concat(chunks).toString('utf8'),
        })
        done()
      })
    },
  })
  server.on('error', () => {})
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  return Object.assign(state, {
    received,
    attempts,
    port: (server.server.address() as AddressInfo).port,
    close: () => new Promise<void>((resolve) => void server.close(() => resolve())),
  })
}

let world: World
let gw: TestGateway
let actions: ActionsClient
let mail: TestMailServer
let ahead = 0
const now = () => Date.now() + ahead
let passwordFile: string

beforeAll(async () => {
  world = await createWorld()
  mail = await startMailServer(await world.ca.leaf('localhost'))
  passwordFile = join(world.env['GATEWAY_DATA_DIR'] ?? '', '..', 'smtp-password')
  await writeFile(passwordFile, 'mail-secret\n', { mode: 0o600 })
  const env = {
    ...world.env,
    GATEWAY_SMTP_URL: `smtp://gateway@localhost:${mail.port}`,
    GATEWAY_SMTP_PASSWORD_FILE: passwordFile,
    GATEWAY_SMTP_FROM: 'gateway@example.com',
    GATEWAY_SMTP_RECIPIENTS: 'example.com,pager@example.net',
  }
  gw = await startTestGateway({ now, world: { ...world, env } })
  actions = await createActionsClient(gw, gw.url, { now })
})
afterAll(async () => {
  await gw?.close()
  await mail?.close()
  await world?.close()
})

const add = (url: string) => gw.rest('POST', '/v1/notifications', { url, kinds: ['approval'] })
const list = async (): Promise<Body[]> => (await gw.rest('GET', '/v1/notifications')).body.notifications
const ask = () => actions.prepare(actions.request(), actions.mandate({ requires_approval: true }))
const remove = (id: unknown) => gw.rest('POST', `/v1/notifications/${String(id)}/remove`, {})

describe('mail', () => {
  it('tells who asks, which host, until when and where to look, and nothing of the request or of a secret', async () => {
    const added = await add('mailto:anna@example.com')
    expect([added.status, added.body.host]).toEqual([201, 'mailto:example.com'])
    const { permit, permit_id } = await ask()
    await expect.poll(() => mail.received.length).toBe(1)
    const { text = '', ...sent } = mail.received[0] ?? {}
    expect(sent).toEqual({
      from: 'gateway@example.com',
      to: ['anna@example.com'],
      user: 'gateway',
      isSecure: true,
    })
    const plain = text.replaceAll('=\r\n', '')
    expect(plain).toContain('Subject: [Agent Gateway] A permit waits for approval: api.example.com')
    for (const said of ['Who asks: service key key_', 'Host: api.example.com', 'Method: POST', 'Until: 20'])
      expect(plain).toContain(said)
    expect(plain).toContain(`${gw.baseUrl}/console/inbox`)
    expect(plain).toContain(permit_id)
    expect(plain).toContain('Auto-Submitted: auto-generated')
    for (const secret of [permit, 'sku', '/v1/orders', 'upstream-secret-1', 'mail-secret', gw.operatorKey])
      expect(plain).not.toContain(secret)
    await expect.poll(async () => (await list())[0]?.['told_at']).not.toBeNull()
    expect(gw.log()).not.toContain('anna@example.com')
    await remove(added.body.notification_id)
  })

  it('goes to mailboxes that the operator allows, and to one address at a time', async () => {
    expect((await add('mailto:pager@example.net')).status).toBe(201)
    for (const blocked of ['mailto:anna@example.net', 'mailto:anna@example.com.evil.net'])
      expect((await add(blocked)).body).toMatchObject({ code: 'target_blocked' })
    for (const wrong of [
      'mailto:',
      'mailto:anna',
      'mailto:anna@example.com,eve@example.net',
      'mailto:anna@example.com?bcc=eve@example.net',
      'mailto:anna@example.com%0aBcc:eve@example.net',
      'mailto:anna@example.com\r\nRCPT TO:<eve@example.net>',
      'mailto:"eve@evil.net"@example.com',
      'mailto:eve@evil.net@example.com',
      'mailto:аnna@example.com',
    ])
      expect([wrong, (await add(wrong)).body.code]).toEqual([wrong, 'target_invalid'])
    for (const { notification_id } of await list()) await remove(notification_id)
  })

  it('is sent again, as the same mail, where the server does not take it, and the list says why', async () => {
    mail.received.length = 0
    const added = await add('mailto:anna@example.com')
    mail.fail = { code: 451 }
    await ask()
    await expect.poll(async () => (await list())[0]?.['problem']).toBe('smtp_later')
    mail.fail = undefined
    ahead += 6_000
    await ask()
    await expect.poll(() => mail.received.length).toBe(2)
    const ids = mail.received.map(({ text }) => /^Message-ID: <(nty_\w+)@example\.com>/im.exec(text)?.[1])
    expect(new Set(ids).size).toBe(2)
    await remove(added.body.notification_id)
  })

  it('never holds up a permit, nor those who are told otherwise', async () => {
    const hooks: string[] = []
    gw.upstream.respond((request, res) => {
      if (request.target === '/hook') hooks.push(JSON.parse(request.body.toString()).data.permit_id)
      res.end()
    })
    mail.fail = 'silent'
    const before = mail.attempts.count
    const mailbox = await add('mailto:anna@example.com')
    const first = await ask()
    await expect.poll(() => mail.attempts.count).toBe(before + 1)
    // The mail server has the connection and says nothing.
    const hook = await add(gw.url('/hook'))
    const second = await ask()
    await expect.poll(() => hooks).toEqual([second.permit_id])
    expect((await gw.rest('POST', `/v1/actions/permits/${first.permit_id}/approve`)).status).toBe(200)
    mail.fail = undefined
    await remove(mailbox.body.notification_id)
    await remove(hook.body.notification_id)
  })
})

describe('a mail server', () => {
  const of = (port: number, over: Partial<SmtpConfig> = {}): SmtpConfig => ({
    host: 'localhost',
    port,
    isImplicitTls: false,
    user: 'gateway',
    passwordFile,
    from: 'gateway@example.com',
    recipients: ['example.com'],
    ...over,
  })
  const { signal } = new AbortController()
  const one = { id: 'nty_1', to: 'anna@example.com', subject: 'A subject', text: 'A text.', signal }

  it('is believed by its certificate alone, and told nothing without TLS', async () => {
    const [stranger, plain, implicit] = await Promise.all([
      startMailServer(await (await createTestCa()).leaf('localhost')),
      startMailServer(await world.ca.leaf('localhost'), { hideTls: true }),
      startMailServer(await world.ca.leaf('localhost'), { secure: true }),
    ])
    const send = (port: number, over: Partial<SmtpConfig> = {}) =>
      createMailer(of(port, over), [world.ca.pem]).send(one)
    expect(await send(stranger.port)).toBe('smtp_tls')
    // The certificate is of another name.
    expect(await send(mail.port, { host: '127.0.0.1' })).toBe('smtp_tls')
    expect(await send(plain.port)).toBe('smtp_tls')
    expect(await send(implicit.port, { isImplicitTls: true })).toBeUndefined()
    expect([stranger, plain].map(({ received }) => received.length)).toEqual([0, 0])
    expect(implicit.received).toMatchObject([{ user: 'gateway', isSecure: true }])
    expect(await send(implicit.port, { isImplicitTls: true, user: 'eve' })).toBe('smtp_sign_in')
    expect(await send(mail.port, { passwordFile: '/nowhere' })).toBe('smtp_password_unreadable')
    await chmod(passwordFile, 0o644)
    const before = mail.received.length
    expect(await send(mail.port)).toBe('smtp_password_exposed')
    expect(mail.received.length).toBe(before)
    await chmod(passwordFile, 0o600)
    await Promise.all([stranger, plain, implicit].map((server) => server.close()))
    expect(await send(plain.port)).toBe('smtp_unreachable')
  })
})
