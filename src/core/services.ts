// What a tool's handler may reach. Types only; main.ts builds the real ones, tests build what they need.
import type {
  ActionReply,
  ActionRequest,
  ActionStats,
  MandateRecord,
  MandateTerms,
  PermitRecord,
  PermitState,
  PreparedPermit,
} from '../../schemas/actions.ts'
import type { InspectResult, TestReport, Transaction } from '../../schemas/commerce.ts'
import type {
  DiscoveryListPage,
  DiscoveryListQuery,
  DiscoverySearchPage,
  DiscoverySearchQuery,
} from '../../schemas/discovery.ts'
import type {
  AttemptRecord,
  CapabilityRecord,
  CredentialMetadata,
  EgressReply,
  IssuedCapability,
  ProviderId,
} from '../../schemas/egress.ts'
import type { EdgeCheck } from '../../schemas/edge.ts'
import type { EmailVerification } from '../../schemas/email.ts'
import type { Scope } from '../../schemas/http.ts'
import type { Execution } from '../../schemas/outcome.ts'
import type { WebFetchResult } from '../../schemas/web-fetch.ts'
import type { SettleResponse, SupportedResponse, VerifyResponse } from '../../schemas/x402.ts'
import type { Caller } from './caller.ts'
import type { GatewayError } from './errors.ts'
import type { QuotaState } from './rate-limit.ts'
import type { PaymentGate, PresentedPayment, Terms } from './charging.ts'
import type { Secret } from '../lib/secret.ts'
import type {
  Account,
  EmailKey,
  HeldCapability,
  LedgerEntry,
  ServiceKey,
  StoredReceipt,
} from '../store/ports.ts'
import type { AttemptState, Page, PageRequest } from '../store/model.ts'

/** What of a scope was asked for; the rest stays as the outer scope has it. */
export type WantedScope = { readonly [K in keyof Scope]?: Scope[K] | undefined }

export interface EgressRequest {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
  readonly body_base64?: string | undefined
  readonly timeout_ms?: number | undefined
  readonly max_bytes?: number | undefined
}

/** Credential broker and controlled egress (contract, section 7). */
export interface Egress {
  /**
   * One attempt: check, debit, resolve, send once, gate, receipt.
   * @throws {GatewayError} target_invalid, header_forbidden, scope_denied, target_blocked, credits_required,
   * upstream_unreachable, credential_unavailable, outcome_ambiguous, secret_reflected, response_too_large,
   * response_unacceptable, egress_paused
   */
  fetch(request: EgressRequest, capability: HeldCapability): Promise<EgressReply>

  createCredential(
    accountId: string,
    input: {
      provider: ProviderId
      label: string
      secret: Secret<string>
      scope: WantedScope
      header?: string | undefined
      scheme?: string | undefined
    },
  ): Promise<CredentialMetadata>
  listCredentials(
    accountId: string,
    page: PageRequest,
  ): Promise<{ items: CredentialMetadata[]; next: string | null }>
  rotateCredential(
    accountId: string,
    credentialId: string,
    secret: Secret<string>,
  ): Promise<CredentialMetadata>
  revokeCredential(accountId: string, credentialId: string): Promise<CredentialMetadata>

  issueCapability(
    accountId: string,
    input: {
      credentialId: string
      scope: WantedScope
      ttlSeconds: number
      maxUses: number | null
      label: string
    },
  ): Promise<IssuedCapability>
  /** A smaller capability made from one's own: never wider, never longer. */
  narrowCapability(
    from: HeldCapability,
    input: { scope: WantedScope; ttlSeconds?: number | undefined; maxUses: number | null; label: string },
  ): Promise<IssuedCapability>
  listCapabilities(
    accountId: string,
    filter: { credentialId?: string | undefined },
    page: PageRequest,
  ): Promise<{ items: CapabilityRecord[]; next: string | null }>
  revokeCapability(accountId: string, capabilityId: string): Promise<{ revoked: number }>

  getAttempt(caller: Caller, attemptId: string): Promise<AttemptRecord>
  listAttempts(
    caller: Caller,
    filter: { state?: AttemptState | undefined },
    page: PageRequest,
  ): Promise<{ items: AttemptRecord[]; next: string | null }>

  /** New wrapping key, every record key re-wrapped, no secret decrypted, no request refused meanwhile. */
  rotateAuthority(): Promise<{ kid: string; retired: string[]; rewrapped: number }>
}

/** Signed single-use permits for one exact request, under mandates (contract, section 7). */
export interface Actions {
  /**
   * The same terms again are the same mandate, with its counters and its revocation.
   * @throws {GatewayError} input_invalid, credential_not_found, scope_denied where the credential covers less, state_conflict
   * where the credential or this very mandate was revoked
   */
  storeMandate(accountId: string, terms: MandateTerms): Promise<MandateRecord>
  listMandates(accountId: string, page: PageRequest): Promise<{ items: MandateRecord[]; next: string | null }>
  /** @throws {GatewayError} mandate_not_found */
  revokeMandate(accountId: string, mandateId: string): Promise<MandateRecord>
  /**
   * Free, but the account must hold a credit.
   * @throws {GatewayError} as the request is judged by a fetch (400, 403); mandate_required where none is given or it does not
   * cover the request, is revoked, expired or used up, saying which; credits_required
   */
  prepare(
    accountId: string,
    input: {
      credential_id: string
      request: ActionRequest
      mandate?: MandateTerms | undefined
      mandate_id?: string | undefined
    },
  ): Promise<PreparedPermit>
  /** @throws {GatewayError} permit_not_found */
  getPermit(accountId: string, permitId: string): Promise<PermitRecord>
  listPermits(
    accountId: string,
    filter: { state?: Exclude<PermitState, 'revoked'> | undefined },
    page: PageRequest,
  ): Promise<{ items: PermitRecord[]; next: string | null }>
  /** Once. @throws {GatewayError} permit_not_found, permit_expired, permit_revoked, state_conflict naming the earlier decision */
  decide(
    accountId: string,
    permitId: string,
    decision: 'approve' | 'refuse',
    keyId: string,
  ): Promise<PermitRecord>
  /**
   * Exactly the request of the permit, once, through the engine of every fetch.
   * @throws {GatewayError} permit_invalid; permit_used, permit_pending, permit_refused, permit_expired, permit_revoked,
   * permit_mismatch (all 409, with `conflict` replay, state or binding and, where there is one, the first attempt);
   * then everything `Egress.fetch` throws
   */
  execute(input: { permit: string; request: ActionRequest }): Promise<ActionReply>
  /** @param accountId whose; undefined: of all accounts together */
  stats(accountId: string | undefined): Promise<ActionStats>
}

/** One HTTP message for a merchant, as it came in. */
export interface EdgeTransaction {
  /** First segment behind `/edge/`, raw. */
  readonly host: string
  /** The rest of the path with its leading slash, raw. */
  readonly path: string
  /** Behind `?`, raw; undefined where there is none. */
  readonly query: string | undefined
  readonly method: string
  /** As received, in order, repeated ones apart. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Buffer
  /** Client address after trusted proxies. */
  readonly address: string
  readonly requestId: string
}

/** The merchant's answer, with the gateway's headers added. */
export interface EdgeReply {
  readonly status: number
  /** Lower-case names, repeated ones apart. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Buffer
}

/** Transactions passed on to merchants who said so in their DNS. */
export interface Edge {
  /**
   * @throws {GatewayError} target_invalid, target_blocked, header_forbidden, headers_too_large, edge_not_authorized,
   * transaction_blocked, credits_required, egress_paused, upstream_unreachable, outcome_ambiguous, response_too_large, response_unacceptable
   */
  forward(transaction: EdgeTransaction): Promise<EdgeReply>
  /** What the record is, what it should be for this account, and why it is refused. Asks every resolver anew. */
  check(accountId: string, host: string): Promise<EdgeCheck>
}

/** Transactions of agent commerce, recognised and judged. Nothing is forwarded and no target is contacted, not even by DNS. */
export interface Commerce {
  /** @param accountId whose policy applies; undefined: the default one */
  inspect(transaction: Transaction, accountId: string | undefined): Promise<InspectResult>
  /** Same input, same bytes: no clock, no network, no key. */
  test(
    transaction: Transaction,
    options: {
      /** Milliseconds; windows are held against it where given. */
      readonly evaluateAt?: number | undefined
      /** What the server declares of an MCP tool; no request carries it. */
      readonly annotations?:
        | { readonly readOnlyHint?: boolean | undefined; readonly idempotentHint?: boolean | undefined }
        | undefined
    },
  ): TestReport
  /** Protocols, checks, caps and reason codes, generated from the rules themselves. */
  testSchema(): Record<string, unknown>
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
  /** Of the whole installation, newest first. `usedToday` is null where keys have no limit: nothing counts then. */
  listKeys(page: PageRequest): Promise<Page<EmailKey & { readonly usedToday: number | null }>>
  /** Idempotent. @throws {GatewayError} key_not_found */
  revokeKey(keyId: string): Promise<EmailKey>
  /**
   * Each address gets its own answer, in the order of the input; what cannot be known in time is a review.
   * @throws {GatewayError} rate_limited when they do not fit into what is left of the day: then none is counted
   */
  verify(
    addresses: readonly string[],
    context: Pick<HandlerContext, 'caller' | 'signal' | 'quota'>,
  ): Promise<readonly EmailVerification[]>
}

export interface Accounts {
  createAccount(input: {
    name: string
    label: string
    admin: boolean
  }): Promise<{ account: Account; key: ServiceKey; token: Secret<string>; credits: number }>
  createKey(input: { accountId: string; label: string }): Promise<{ key: ServiceKey; token: Secret<string> }>
  listKeys(accountId: string | undefined, page: PageRequest): Promise<Page<ServiceKey>>
  revokeKey(accountId: string | undefined, keyId: string): Promise<ServiceKey>
  balance(accountId: string): Promise<number>
  ledger(accountId: string, page: PageRequest): Promise<Page<LedgerEntry>>
  grant(input: {
    accountId: string
    amount: number
    reference: string
  }): Promise<{ balance: number; repeated: boolean }>
}

export interface Receipts {
  get(receiptId: string): Promise<StoredReceipt>
}

/** Signed documents: compact JWS (EdDSA) over RFC 8785 JSON, told apart by `typ`. */
export interface Signer {
  readonly kid: string
  /**
   * @param typ e.g. `gw-receipt+jws`; see receipts/types.ts for the list
   * @param kid how a reader that does not know us finds the key: a DID URL; the key's thumbprint unless given
   */
  sign(typ: string, payload: Readonly<Record<string, unknown>>, kid?: string): string
}

/** Documents generated from the registry (catalogue, manifest, protocols …), as plain JSON. */
export interface Documents {
  catalogue(): Record<string, unknown>
  /** @throws {GatewayError} not_found */
  capability(id: string): Record<string, unknown>
  protocols(): Record<string, unknown>
  actionsManifest(): Record<string, unknown>
  actionsPricing(): Record<string, unknown>
  egressManifest(): Record<string, unknown>
  egressPricing(): Record<string, unknown>
  egressProviders(): Record<string, unknown>
}

/** Work behind `gateway_execute`. */
export interface Outcomes {
  /** What a request that does not match the schema was probably about, and one that works. Never throws. */
  guide(input: unknown): Record<string, unknown>
  /**
   * @param input of gateway_execute, checked against its schema; what is wrapped inside it is checked here
   * @throws {GatewayError} intent_unknown and outcome_not_live with repair guidance, input_conflict,
   * input_missing_field, input_wrong_type, input_unknown_property, input_invalid; target_invalid and target_blocked when
   * no source could ever be reached
   * @returns null where the job is free
   */
  terms(input: Readonly<Record<string, unknown>>): Terms | null
  /**
   * @throws {GatewayError} as `terms`, and sources_unusable when there is nothing to deliver
   */
  execute(
    input: Readonly<Record<string, unknown>>,
    context: { caller: Caller; signal: AbortSignal; claimId?: string | undefined },
  ): Promise<Execution>
}

/** x402 facilitator for anybody's payments (POST /verify, /settle and what describes them). */
export interface Facilitator {
  /**
   * @param body as sent: {x402Version, paymentPayload, paymentRequirements}
   * @throws {GatewayError} payment_blocked with `check`, `isValid`, `invalidReason`, `payer`; payments_unavailable; no_route
   */
  verify(body: unknown): Promise<VerifyResponse>
  /**
   * @throws {GatewayError} payment_blocked, settlement_replayed, credits_required, payments_unavailable, no_route, each
   * with x402's own members beside the problem
   */
  settle(body: unknown, caller: Caller): Promise<SettleResponse>
  /** Kinds of live upstreams only. */
  supported(): Promise<SupportedResponse>
  identity(): Promise<Record<string, unknown>>
  /** @throws {GatewayError} no_route */
  route(selector: { network: string; scheme: string }): Promise<Record<string, unknown>>
}

/** Paid fetch of one public HTTPS URL, with what comes before it. */
export interface WebFetch {
  /** GET /v1/pricing. */
  pricing(): Promise<Record<string, unknown>>
  /**
   * One of the seven shapes -> signed quote, stored.
   * @throws {GatewayError} input_*, target_invalid, target_blocked, tool_unavailable, payments_unavailable
   */
  quote(input: unknown): Promise<Record<string, unknown>>
  /** Opens no connection to the target; what stands in the way is a finding. @throws {GatewayError} input_*, target_invalid */
  preflight(input: unknown): Promise<Record<string, unknown>>
  /** Price and binding of a fetch. @throws {GatewayError} input_*, target_invalid, target_blocked, tool_unavailable */
  terms(input: unknown): Promise<Terms>
  /**
   * The fetch itself: content, evidence, `receipt: null`. Goes on when its caller goes away.
   * @throws {GatewayError} when there is nothing to charge for: target_blocked, egress_paused, upstream_unreachable,
   * response_unacceptable
   */
  fetch(input: unknown, context: { requestId: string }): Promise<WebFetchResult>
}

export interface PurchaseRequest {
  readonly credits: number
  /** One-time reference of a 402 for credits; needed where the caller has no account. */
  readonly account_reference?: string | undefined
}

/** Credits bought with x402. */
export interface Purchases {
  /**
   * @throws {GatewayError} input_invalid, input_conflict, key_required, account_not_found, state_conflict,
   * payments_unavailable
   */
  terms(request: PurchaseRequest, caller: Caller): Promise<Terms>
  /**
   * What the buyer gets; the credits themselves come with the settlement of the claim.
   * @throws {GatewayError} state_conflict when the reference pays, or paid, through another claim
   */
  complete(request: PurchaseRequest, caller: Caller, claimId: string): Promise<PurchaseResult>
  /**
   * The one 402 for credits, wherever it is raised: with a PaymentRequired for /v1/credits/purchase and the body to
   * send there, under a one-time reference to the account; without them where credits are not for sale.
   * @param refusal.what says what costs how much, e.g. `One attempt costs 1 credit`
   */
  creditsRequired(refusal: {
    accountId: string
    balance: number
    need: number
    what: string
  }): Promise<GatewayError>
}

export interface PurchaseResult {
  readonly credits_granted: number
  /** Only to its holder: who pays by reference is not told. */
  readonly account_id: string | null
  readonly claim_id: string
  readonly payment_url: string
  readonly balance_url: string
  readonly cost: {
    readonly amount_atomic: string
    readonly amount: string
    readonly currency: 'USDC'
    readonly decimals: number
    readonly credit_price_atomic: string
  }
  readonly receipt: null
}

/** Resources that can be paid with x402, from other catalogues and our own. */
export interface Discovery {
  /** @throws {GatewayError} input_invalid, input_conflict */
  list(query: DiscoveryListQuery): Promise<DiscoveryListPage>
  /** @throws {GatewayError} input_invalid */
  search(query: DiscoverySearchQuery): Promise<DiscoverySearchPage>
}

export interface Health {
  report(): Promise<Record<string, unknown>>
}

export interface Services {
  readonly egress: Egress
  readonly actions: Actions
  readonly edge: Edge
  readonly commerce: Commerce
  readonly email: Email
  readonly accounts: Accounts
  readonly receipts: Receipts
  readonly documents: Documents
  readonly outcomes: Outcomes
  readonly payments: Pick<PaymentGate, 'claim'>
  readonly facilitator: Facilitator
  readonly webFetch: WebFetch
  readonly purchases: Purchases
  readonly discovery: Discovery
  readonly health: Health
}

export interface HandlerContext extends Services {
  readonly caller: Caller
  /** Aborts when the caller goes away: stop work that nobody will read. Made by asking for it: few calls need one. */
  readonly signal: () => AbortSignal
  readonly requestId: string
  /** As the door found it, unjudged: for reading the claim it made, never for paying. */
  readonly payment?: PresentedPayment | undefined
  /** The claim that pays for this call; undefined where nothing was paid with x402. */
  readonly claimId?: string | undefined
  /** Of a tool that passes HTTP messages on: the message itself. */
  readonly message?: EdgeTransaction | undefined
  /** Says what the caller has left of a longer quota, for the answer's head; also where it refuses. */
  readonly quota: (state: QuotaState) => void
  /** For long work; a no-op where the door or the client has no use for it. */
  readonly progress: (progress: { done: number; total?: number; message?: string }) => void
}
