// The interfaces of email verification to the world. Syntax, lists and decision are pure; routing asks DNS. Nothing that is
// verified is stored: counters, and a keyed digest in a cache in memory.
import type { AddressPolicy } from '../egress/address.ts'
import type { EmailVerification } from '../../schemas/email.ts'
import type { Secret } from '../lib/secret.ts'
import type { EmailKey } from '../store/ports.ts'
import type { Page, PageRequest } from '../store/model.ts'
import type { CallContext } from '../core/context.ts'

/** The answer about one domain, with how long it holds. */
export type MailRoute =
  | {
      readonly status: 'mx'
      readonly hosts: readonly { readonly host: string; readonly priority: number }[]
      readonly ttlSeconds: number
    }
  /** RFC 7505: the domain says it takes no mail. */
  | { readonly status: 'null_mx'; readonly ttlSeconds: number }
  /** There is no MX record: the domain's own address takes the mail (RFC 5321, 5.1). */
  | {
      readonly status: 'implicit'
      readonly addresses: readonly string[]
      /** SPF says that it sends no mail (RFC 7208); false where SPF could not be asked for. */
      readonly sendsNoMail: boolean
      readonly ttlSeconds: number
    }
  | { readonly status: 'no_domain' | 'no_route'; readonly ttlSeconds: number }
  /** A domain of the sandbox: it takes all mail, and nobody is asked. */
  | { readonly status: 'sandbox'; readonly ttlSeconds: number }
  /** There is a route on paper, and it leads nowhere: to no host, to a local name or to addresses that are not public. */
  | {
      readonly status: 'unreachable'
      readonly hosts: readonly { readonly host: string; readonly priority: number }[]
      readonly ttlSeconds: number
    }
  /** Nobody knows right now: never a reason to reject, never kept. */
  | { readonly status: 'unknown'; readonly reason: 'timeout' | 'failure' }

export type DnsAnswer<T> =
  | { readonly status: 'found'; readonly records: readonly T[]; readonly ttlSeconds: number }
  | { readonly status: 'no_name' | 'no_data'; readonly ttlSeconds: number }
  | { readonly status: 'failed'; readonly reason: 'timeout' | 'failure' }

/** Two attempts a question; never throws. */
export interface MailDns {
  mx(
    domain: string,
    timeoutMs: number,
  ): Promise<DnsAnswer<{ readonly exchange: string; readonly priority: number }>>
  /** A (4) or AAAA (6). */
  addresses(host: string, family: 4 | 6, timeoutMs: number): Promise<DnsAnswer<string>>
  /** The strings of each TXT record joined. */
  txt(domain: string, timeoutMs: number): Promise<DnsAnswer<string>>
}

/** Optional: asks a verifier that is configured whether the mailbox exists. Its failure is `unknown`. */
export interface MailboxVerifier {
  verify(address: string, signal: AbortSignal): Promise<'deliverable' | 'undeliverable' | 'unknown'>
}

/** Optional: when domains were registered, as the source says that the operator configured. */
export interface DomainAges {
  /**
   * @param domain registrable, lower-case A-labels
   * @returns Unix milliseconds; undefined where it does not know, or not in time; never throws
   */
  registeredAt(domain: string): Promise<number | undefined>
}

/** In milliseconds. */
export interface MailTimes {
  /** For one call, however many addresses it has. */
  readonly callMs: number
  /** For one name. A caller may give up earlier; what is learned then serves the next one. */
  readonly nameMs: number
  /** For what only adds a reason: a server that is silent about it makes nobody wait for the route. */
  readonly spfMs: number
  /** For one attempt to ask a DNS server. */
  readonly attemptMs: number
}

export interface EmailParts {
  /** Domains that take mail without a question to DNS; empty outside of a sandbox. */
  readonly sandboxDomains: ReadonlySet<string>
  readonly dns: MailDns
  readonly addresses: AddressPolicy
  readonly mailbox: MailboxVerifier | undefined
  readonly ages: DomainAges | undefined
  /** A domain that was registered less than so many days ago is new. */
  readonly newDomainDays: number
  /** Others than the product's; for tests. */
  readonly times?: Partial<MailTimes> | undefined
  readonly now: () => number
}

export interface FreeKey {
  readonly id: string
  readonly createdAt: number
  /** Addresses a day; null: no limit. */
  readonly dailyQuota: number | null
  readonly token: Secret<string>
}

/** Decisions about email addresses. Nothing that is verified is stored or logged. */
export interface Email {
  /** @throws {GatewayError} rate_limited, by the network that the address is in */
  createFreeKey(address: string): Promise<FreeKey>
  /**
   * Lists the keys of the whole installation, newest first. `usedToday` is null where keys have no limit: nothing counts
   * then.
   */
  listKeys(page: PageRequest): Promise<Page<EmailKey & { readonly usedToday: number | null }>>
  /** Idempotent. @throws {GatewayError} key_not_found */
  revokeKey(keyId: string): Promise<EmailKey>
  /**
   * Each address gets its own answer, in the order of the input; what cannot be known in time is a review, and what is no
   * text is no address.
   * @throws {GatewayError} rate_limited when they do not fit into what is left of the day: then none is counted
   */
  verify(
    addresses: readonly unknown[],
    context: Pick<CallContext, 'caller' | 'signal' | 'quota' | 'progress'>,
  ): Promise<readonly EmailVerification[]>
}
