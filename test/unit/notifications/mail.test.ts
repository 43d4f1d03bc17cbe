// Mail of notifications: whom it may go to, how often, what it says, and how its server is named.
import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { readSmtp } from '../../../src/app/smtp-variables.ts'
import { createMailer } from '../../../src/notifications/adapters/smtp.ts'
import { isAllowed, readMailto } from '../../../src/notifications/mail-address.ts'
import { createMailLimit, MAILS_PER_HOUR } from '../../../src/notifications/mail-limit.ts'
import { writeMail } from '../../../src/notifications/mail.ts'

describe('the address of a mailbox', () => {
  it('is one, in ASCII, with its domain in lower case', () => {
    expect(readMailto('mailto:Anna.B+permits@Mail.Example.COM')).toEqual({
      address: 'Anna.B+permits@mail.example.com',
      domain: 'mail.example.com',
    })
    for (const wrong of [
      'anna@example.com',
      'mailto:anna@localhost',
      'mailto:.a@example.com',
      'mailto:a@-x.com',
    ])
      expect([wrong, readMailto(wrong)]).toEqual([wrong, undefined])
    expect(readMailto(`mailto:${'a'.repeat(65)}@example.com`)).toBeUndefined()
    expect(readMailto(`mailto:a@${'a.'.repeat(130)}com`)).toBeUndefined()
  })

  it('is allowed by itself or by its whole domain', () => {
    const may = (url: string) =>
      isAllowed(readMailto(url) ?? { address: '', domain: '' }, ['example.com', 'ops@example.net'])
    expect(
      [
        'mailto:a@example.com',
        'mailto:OPS@example.net',
        'mailto:a@example.net',
        'mailto:a@x.example.com',
      ].map(may),
    ).toEqual([true, true, false, false])
  })
})

describe('a mailbox', () => {
  it('is sent thirty an hour, each by itself', () => {
    let now = 0
    const limit = createMailLimit(() => now)
    const takes = (id: string, count: number) => Array.from({ length: count }, () => limit.take(id))
    expect(takes('ntg_1', MAILS_PER_HOUR + 1).filter(Boolean)).toHaveLength(MAILS_PER_HOUR)
    expect(limit.take('ntg_2')).toBe(true)
    now = 3_600_000
    expect(limit.take('ntg_1')).toBe(true)
  })
})

describe('a mail', () => {
  it('is plain lines of known facts, whatever was written down', () => {
    const { subject, text } = writeMail(
      JSON.stringify({
        type: 'approval',
        timestamp: '2026-11-23T12:00:00.000Z',
        data: {
          host: 'api.example.com\r\nBcc: eve@example.net',
          prepared_by: 'person per_1\u202e',
          body: 'the body',
          url: 'https://gateway.example.com/console/inbox',
        },
      }),
      'https://gateway.example.com',
    )
    expect(subject).toBe('[Agent Gateway] A permit waits for approval: api.example.com??Bcc: eve@example.net')
    expect(text).toContain('\nWho asks: person per_1?\nHost: api.example.com??Bcc: eve@example.net\n')
    expect(text).not.toContain('the body')
  })
})

describe('the mail server', () => {
  const read = (over: Record<string, string | readonly string[] | undefined>) =>
    readSmtp({ GATEWAY_SMTP_RECIPIENTS: [], ...over })

  it('is named with its user, its password in a file, and whom it mails', () => {
    expect(read({})).toEqual({ smtp: undefined, problems: [] })
    expect(
      read({
        GATEWAY_SMTP_URL: 'smtp://gate%40way@mail.example.com',
        GATEWAY_SMTP_PASSWORD_FILE: '/run/secrets/smtp',
        GATEWAY_SMTP_FROM: 'gateway@Example.com',
      }).smtp,
    ).toEqual({
      host: 'mail.example.com',
      port: 587,
      isImplicitTls: false,
      user: 'gate@way',
      passwordFile: '/run/secrets/smtp',
      from: 'gateway@example.com',
      recipients: ['example.com'],
    })
    const bare = { GATEWAY_SMTP_URL: 'smtps://[::1]', GATEWAY_SMTP_FROM: 'a@example.com' }
    expect(read({ ...bare, GATEWAY_SMTP_RECIPIENTS: ['X.example.com'] }).smtp).toMatchObject({
      host: '::1',
      port: 465,
      isImplicitTls: true,
      user: undefined,
      recipients: ['x.example.com'],
    })
  })

  it.each([
    [
      'a password in the URL',
      { GATEWAY_SMTP_URL: 'smtp://a:secret@mail.example.com', GATEWAY_SMTP_PASSWORD_FILE: '/x' },
    ],
    ['a user without a password', { GATEWAY_SMTP_URL: 'smtp://a@mail.example.com' }],
    ['a password without a user', { GATEWAY_SMTP_PASSWORD_FILE: '/x' }],
    ['no sender', { GATEWAY_SMTP_FROM: undefined }],
    ['a sender with a name', { GATEWAY_SMTP_FROM: 'Gateway <a@example.com>' }],
    [
      'a user that is no URL encoding',
      { GATEWAY_SMTP_URL: 'smtp://a%zz@mail.example.com', GATEWAY_SMTP_PASSWORD_FILE: '/x' },
    ],
    ['a path', { GATEWAY_SMTP_URL: 'smtp://mail.example.com/x' }],
    ['no server', { GATEWAY_SMTP_URL: undefined }],
    ['everybody', { GATEWAY_SMTP_RECIPIENTS: ['*'] }],
  ])('is refused with %s, and no value is repeated', (_what, over) => {
    const { smtp, problems } = read({
      GATEWAY_SMTP_URL: 'smtp://mail.example.com',
      GATEWAY_SMTP_FROM: 'gateway@example.com',
      ...over,
    })
    expect([smtp, problems.length]).toEqual([undefined, 1])
    expect(problems.join()).not.toContain('secret')
  })
})

describe('a mailer', () => {
  it('leaves nothing behind on the signal that outlives its mails', async () => {
    const mailer = createMailer(
      {
        host: 'localhost',
        port: 1,
        isImplicitTls: false,
        user: 'a',
        passwordFile: '/nowhere/at/all',
        from: 'a@example.com',
        recipients: ['example.com'],
      },
      undefined,
    )
    const { signal } = new AbortController()
    const mail = { to: 'b@example.com', subject: 's', text: 't', signal }
    for (const id of ['1', '2', '3'])
      expect(await mailer.send({ id, ...mail })).toBe('smtp_password_unreadable')
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })
})
