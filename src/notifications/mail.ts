// What a mail says: who asks for what, until when, and where to look. Never a body, a header, a path or a token: mail lies in many places.
import type { AlertKind } from '../../schemas/notification.ts'

/** A notification as it is kept until it is sent. */
export interface MailContent {
  readonly subject: string
  readonly text: string
}

/** Words for each kind, and the facts that follow them in their order. */
const WORDS: Readonly<Record<AlertKind | 'test', { subject: string; facts: readonly [string, string][] }>> = {
  approval: {
    subject: 'A permit waits for approval',
    facts: [
      ['Who asks', 'prepared_by'],
      ['Host', 'host'],
      ['Method', 'method'],
      ['Until', 'expires_at'],
      ['Permit', 'permit_id'],
    ],
  },
  refresh_failed: {
    subject: 'No token could be renewed for a credential',
    facts: [['Credential', 'credential_id']],
  },
  secret_reflected: {
    subject: 'An answer held a secret and was withheld',
    facts: [
      ['Host', 'host'],
      ['Attempt', 'attempt_id'],
    ],
  },
  settler_low: {
    subject: 'An account that settles payments runs out of gas',
    facts: [
      ['Account', 'settler'],
      ['State', 'state'],
    ],
  },
  test: { subject: 'A test notification', facts: [] },
}

/** Longest fact: an id, a host, a time. */
const MOST = 300

/**
 * @param body of the notification as webhooks get it: `{type, timestamp, data}`
 * @throws {SyntaxError} where it is none
 */
export function writeMail(body: string, baseUrl: string): MailContent {
  const { type, timestamp, data } = JSON.parse(body) as {
    readonly type: string
    readonly timestamp: string
    readonly data: Readonly<Record<string, unknown>>
  }
  const { subject, facts } = WORDS[type as AlertKind | 'test'] ?? WORDS.test
  const lines = facts.flatMap(([name, member]) => {
    const value = data[member]
    return typeof value === 'string' ? [`${name}: ${plain(value)}`] : []
  })
  const host = typeof data['host'] === 'string' && type === 'approval' ? `: ${plain(data['host'])}` : ''
  return {
    subject: `[Agent Gateway] ${subject}${host}`,
    text: [
      `${subject}.`,
      '',
      ...lines,
      `When: ${plain(timestamp)}`,
      '',
      `Look at it in the console: ${plain(String(data['url'] ?? baseUrl))}`,
      '',
      'This mail shows nothing of what would be sent, and nothing can be approved by answering it.',
      '',
    ].join('\n'),
  }
}

/** One line of ordinary characters, whatever was written down. */
const plain = (text: string) => text.replaceAll(/[^ -~]/g, '?').slice(0, MOST)
