// Composition of email verification: lists in a process of their own, mail routes by DNS, an optional mailbox verifier.
import { createAddressPolicy } from '../egress/address.ts'
import type { OpenEgress } from '../egress/index.ts'
import { createMailDns } from '../email/adapters/dns.ts'
import { createFileAges, createRdapAges } from '../email/adapters/domain-age.ts'
import { createKnowledgeReader } from '../email/adapters/knowledge.ts'
import { createListLoader } from '../email/adapters/list-loader.ts'
import { createMailboxVerifier } from '../email/adapters/verifier.ts'
import { createEmail, type EmailService } from '../email/index.ts'
import type { DomainAges, MailTimes } from '../email/ports.ts'
import { type KnownKeys, rememberKeys } from '../email/known-keys.ts'
import type { Platform } from './platform.ts'
import type { Lifetime } from './lifetime.ts'

export interface OpenEmail {
  readonly email: EmailService
  readonly findKey: KnownKeys['find']
}

/** Reserved for examples (RFC 2606, 3): in a sandbox they take mail, so that what a guide shows answers as it says. */
const SANDBOX_DOMAINS: ReadonlySet<string> = new Set(['example.com', 'example.net', 'example.org'])

/** Composes email verification: lists from disk, DNS, and the verifier of mailboxes where one is configured. */
export function openEmail(
  platform: Platform,
  { checkHost }: Pick<OpenEgress, 'checkHost'>,
  lifetime: Lifetime,
  times: Partial<MailTimes> = {},
): OpenEmail {
  const { config, isSandbox, store, documents, resolver, sender, policy, log, now } = platform
  const { dataDir, emailDomainAge, emailNewDomainDays, emailVerifierUrl: url } = config
  const lists = createListLoader({ dataDir })
  lifetime.onClose(() => lists.close())
  const keys = rememberKeys(store, now)
  const email = createEmail({
    store,
    sandboxDomains: isSandbox ? SANDBOX_DOMAINS : new Set(),
    dns: createMailDns(config.dnsServers, times.attemptMs),
    // Mail does not arrive at a private address, whatever was opened for requests.
    addresses: createAddressPolicy([]),
    ages: openAges(platform, checkHost, emailDomainAge),
    newDomainDays: emailNewDomainDays,
    times,
    mailbox:
      url === undefined ? undefined : createMailboxVerifier({ url, resolver, sender, policy, checkHost }),
    readKnowledge: createKnowledgeReader({
      dataDir,
      loadLists: lists.load,
      documents,
      report: (problem) => log.warn(problem),
      now,
    }),
    dailyQuota: config.emailDailyQuota,
    areKeysLimited: config.rateLimit !== 0,
    forgetKey: keys.forget,
    now,
    elapsedMs: () => performance.now(),
  })
  lifetime.onClose(() => email.settle('all'))
  return { email, findKey: keys.find }
}

/** @param source a file or an https address, as configured */
function openAges(
  { resolver, sender, policy, log, now }: Platform,
  checkHost: OpenEgress['checkHost'],
  source: string | undefined,
): DomainAges | undefined {
  if (source === undefined) return undefined
  if (source.startsWith('https://'))
    return createRdapAges({ url: source, resolver, sender, policy, checkHost, now })
  return createFileAges({ path: source, now, report: (problem) => log.warn(problem) })
}
