// The mail server of notifications, from its variables. A password stands in a file, never in a variable: those are in process lists and dumps.
import type { SmtpConfig } from '../core/config.ts'
import { readMailAddress } from '../notifications/mail-address.ts'

export interface SmtpVariables {
  readonly GATEWAY_SMTP_URL?: string | undefined
  readonly GATEWAY_SMTP_PASSWORD_FILE?: string | undefined
  readonly GATEWAY_SMTP_FROM?: string | undefined
  readonly GATEWAY_SMTP_RECIPIENTS: readonly string[]
}

/** @returns the problems in words beside what is left */
export function readSmtp(e: SmtpVariables): { smtp: SmtpConfig | undefined; problems: readonly string[] } {
  const problems: string[] = []
  if (e.GATEWAY_SMTP_URL === undefined) {
    for (const name of ['GATEWAY_SMTP_PASSWORD_FILE', 'GATEWAY_SMTP_FROM'] as const)
      if (e[name] !== undefined) problems.push(`${name}: needs GATEWAY_SMTP_URL, the mail server`)
    return { smtp: undefined, problems }
  }
  const url = new URL(e.GATEWAY_SMTP_URL)
  const isImplicitTls = url.protocol === 'smtps:'
  if (url.password !== '')
    problems.push('GATEWAY_SMTP_URL: the password goes into GATEWAY_SMTP_PASSWORD_FILE')
  if (url.hostname === '' || !['', '/'].includes(url.pathname) || url.search !== '' || url.hash !== '')
    problems.push('GATEWAY_SMTP_URL must be smtp://host:port or smtps://host:port')
  if ((url.username === '') !== (e.GATEWAY_SMTP_PASSWORD_FILE === undefined))
    problems.push('GATEWAY_SMTP_URL: a user name and GATEWAY_SMTP_PASSWORD_FILE go together')
  const user = decodeUser(url.username)
  if (user === undefined) problems.push('GATEWAY_SMTP_URL: write a percent sign of the user name as %25')
  const from = readMailAddress(e.GATEWAY_SMTP_FROM ?? '')
  if (!from) problems.push('GATEWAY_SMTP_FROM must be an address such as gateway@example.com')
  const recipients = e.GATEWAY_SMTP_RECIPIENTS.map((each) => each.toLowerCase())
  recipients.forEach((each, i) => {
    if (!readMailAddress(each.includes('@') ? each : `x@${each}`))
      problems.push(`GATEWAY_SMTP_RECIPIENTS: entry ${i + 1} is not an address or a domain`)
  })
  if (!from || problems.length > 0) return { smtp: undefined, problems }
  return {
    smtp: {
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port === '' ? (isImplicitTls ? 465 : 587) : Number(url.port),
      isImplicitTls,
      user: user === '' ? undefined : user,
      passwordFile: e.GATEWAY_SMTP_PASSWORD_FILE,
      from: from.address,
      recipients: recipients.length > 0 ? recipients : [from.domain],
    },
    problems,
  }
}

function decodeUser(username: string): string | undefined {
  try {
    return decodeURIComponent(username)
  } catch {
    return undefined
  }
}
