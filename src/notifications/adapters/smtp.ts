// Mail by SMTP, through the server that the operator names: over verified TLS or not at all. Each mail has a connection of its own, few at once.
import { readFile, stat } from 'node:fs/promises'
import { rootCertificates } from 'node:tls'
import type { SmtpConfig } from '../../core/config.ts'
import { isPrivateFile } from '../../lib/private-file.ts'
import { createSemaphore } from '../../lib/semaphore.ts'
import { Secret } from '../../lib/secret.ts'
import type { Mailer, MailRequest } from '../ports.ts'

const TIMEOUT_MS = 10_000
/** Connections at once: servers count them. */
const CONNECTIONS = 2

/** What nodemailer calls a failure, as a word that stays. */
const REASONS: Readonly<Record<string, string>> = {
  EAUTH: 'smtp_sign_in',
  ENOAUTH: 'smtp_sign_in',
  ETLS: 'smtp_tls',
  ETIMEDOUT: 'smtp_timeout',
  ECONNECTION: 'smtp_unreachable',
  ESOCKET: 'smtp_unreachable',
  EDNS: 'smtp_unreachable',
  EENVELOPE: 'smtp_refused',
  EMESSAGE: 'smtp_refused',
}

/** @param extraCa PEM of authorities beside the default ones; for tests. NODE_EXTRA_CA_CERTS is honoured without it */
export function createMailer(smtp: SmtpConfig, extraCa: readonly string[] | undefined): Mailer {
  const places = createSemaphore(CONNECTIONS)
  const { host, port, isImplicitTls, user, passwordFile, from } = smtp
  const domain = from.slice(from.lastIndexOf('@') + 1)

  async function deliver({ id, to, subject, text }: MailRequest): Promise<string | undefined> {
    const password = passwordFile && (await readPassword(passwordFile))
    // Most gateways send no mail: what sends it is loaded when the first one goes out.
    const { createTransport } = await import('nodemailer')
    const connect = (pass: string | undefined) =>
      createTransport({
        host,
        port,
        secure: isImplicitTls,
        requireTLS: true,
        tls: { minVersion: 'TLSv1.2', ...(extraCa && { ca: [...rootCertificates, ...extraCa] }) },
        connectionTimeout: TIMEOUT_MS,
        greetingTimeout: TIMEOUT_MS,
        socketTimeout: TIMEOUT_MS,
        dnsTimeout: TIMEOUT_MS,
        maxResponseSize: 16_384,
        disableFileAccess: true,
        disableUrlAccess: true,
        ...(user !== undefined && pass !== undefined && { auth: { user, pass } }),
      })
    const transport = password ? password.use(connect) : connect(undefined)
    try {
      await transport.sendMail({
        from: { name: 'Agent Gateway', address: from },
        to: { name: '', address: to },
        subject,
        text,
        // A mail that is sent again, since nobody knows whether the first one was taken, is the same mail.
        messageId: `<${id}@${domain}>`,
        headers: { 'Auto-Submitted': 'auto-generated' },
      })
      return undefined
    } finally {
      transport.close()
    }
  }

  return {
    async send(mail) {
      const leave = await places.acquire(TIMEOUT_MS)
      if (!leave) return 'smtp_busy'
      const { signal } = mail
      const over = Promise.withResolvers<string>()
      const close = () => over.resolve('closing')
      signal.addEventListener('abort', close)
      if (signal.aborted) close()
      try {
        // A server that says nothing holds up nobody who closes.
        return await Promise.race([deliver(mail), over.promise])
      } catch (thrown) {
        return reasonOf(thrown)
      } finally {
        signal.removeEventListener('abort', close)
        leave()
      }
    },
  }
}

/** @throws {PasswordFileOpen}, and what `fs` throws */
async function readPassword(file: string): Promise<Secret<string>> {
  if (!isPrivateFile(await stat(file))) throw new PasswordFileOpen()
  return new Secret((await readFile(file, 'utf8')).replace(/\r?\n$/, ''))
}

/** Others may read the file: whoever uses this machine could send mail as the gateway. */
class PasswordFileOpen extends Error {}

/** What a server says may quote the address, or more: only the kind of failure goes on. */
function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return 'smtp_failed'
  if (thrown instanceof PasswordFileOpen) return 'smtp_password_exposed'
  const code = 'code' in thrown ? String(thrown.code) : ''
  const response = 'responseCode' in thrown ? Number(thrown.responseCode) : undefined
  if (code === 'ENOENT' || code === 'EACCES') return 'smtp_password_unreadable'
  if (/certificate|self.signed|CERT|UNABLE_TO|altname/i.test(`${code} ${thrown.message}`)) return 'smtp_tls'
  if (response !== undefined && response >= 400 && response < 500) return 'smtp_later'
  return REASONS[code] ?? 'smtp_failed'
}
