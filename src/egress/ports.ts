// The world as egress needs it. Adapters implement these ports; tests pass their own.
import type { Duplex, Readable } from 'node:stream'
import type { AddressPolicy } from './address.ts'
import type { SealedSecret, WrappedKey } from '../store/ports.ts'
import type { Secret } from '../lib/secret.ts'
import type {
  AttemptRecord,
  CapabilityRecord,
  CredentialMetadata,
  EditedCredential,
  EgressReply,
  IssuedCapability,
  ProviderId,
  TokenHealth,
} from '../../schemas/egress.ts'
import type { CredentialSettings } from '../../schemas/credential-settings.ts'
import type { BudgetState, BudgetWish } from '../../schemas/budget.ts'
import type { AuthorityRotation } from '../../schemas/authority.ts'
import type { EgressRules } from '../../schemas/egress-rule.ts'
import type { Scope } from '../../schemas/http.ts'
import type { Caller, Operator } from '../core/caller.ts'
import { GatewayError } from '../core/errors.ts'
import type { CreditCharge } from '../core/credit-charge.ts'
import type { CredentialCapability, HeldCapability } from '../store/ports.ts'
import type { AttemptState, PageRequest } from '../store/model.ts'
import type { Relay } from './relay/ports.ts'

/** One yes to a request, as receipts name it: by id, never by name or address. */
export interface Approval {
  readonly by: string
  readonly kind: string
  /** How the person had signed in; null for a key. */
  readonly method: string | null
  /** Milliseconds since the epoch. */
  readonly at: number
}

export interface Clock {
  now(): number
}

/** One answer of the resolver: every address of the name, A and AAAA together, never filtered. */
export interface Resolver {
  /**
   * @throws {ResolveError} when the name does not resolve or the resolver does not answer in time
   */
  resolve(host: string, timeoutMs: number): Promise<readonly string[]>
  /** The answer that it remembers; undefined when it would have to ask. */
  recall?(host: string): readonly string[] | undefined
}

export class ResolveError extends Error {
  readonly reason: 'not_found' | 'timeout' | 'server_failure'
  constructor(reason: ResolveError['reason']) {
    super(`name resolution: ${reason}`)
    this.name = 'ResolveError'
    this.reason = reason
  }
}

/**
 * The certificate of the server: signed by nobody who counts, out of date, of another name. That of the client: refused by an
 * alert, or the server hung up without a word.
 */
export type TlsProblem = 'untrusted' | 'expired' | 'wrong_name' | 'client_refused' | 'closed'

/** What one credential brings to its TLS handshakes, and no other. */
export interface TlsIdentity {
  /** PEM. Where there is one, the public authorities do not count. */
  readonly ca: string | undefined
  /** PEM, the client's own first. */
  readonly certificate: string | undefined
  readonly key: Secret<string> | undefined
}

/** @returns why no handshake can be made of it, as a code; undefined where one can */
export type TlsTrial = (tls: TlsIdentity) => string | undefined

/** Why a request may not go out any more, in words for its caller; undefined where it may. */
export type FindWithdrawal = () => Promise<GatewayError | undefined>

export interface OutboundRequest {
  readonly method: string
  /** Canonical URL; its host is what TLS verifies. */
  readonly url: URL
  /** Path and query to send instead of the URL's, where a secret is in them. */
  readonly target?: Secret<string> | undefined
  /** Vetted addresses: the only ones that may be dialled. */
  readonly addresses: readonly string[]
  /** What its credential may reach, where that is more than the public internet. */
  readonly reach?: AddressPolicy | undefined
  /** Already allow-listed, lower-case names. The credential header among them is why this is a Secret. */
  readonly headers: Secret<readonly (readonly [string, string])[]>
  /** May hold a secret, too. */
  readonly body: Buffer | undefined
  /** What its credential brings to the handshake, instead of what everybody has. */
  readonly tls?: TlsIdentity | undefined
  /** Connections are never shared across partitions (one per credential; with `tls`, one per version of it). */
  readonly partition: string
  readonly timeoutMs: number
  readonly maxResponseBytes: number
  /** A longer answer is cut at `maxResponseBytes` and marked, instead of refused. */
  readonly overflow?: 'cut' | undefined
  /** An answer with a Content-Encoding is handed over as it came, instead of refused. */
  readonly acceptsEncoded?: boolean | undefined
  readonly signal?: AbortSignal | undefined
  /** Asked once there is a connection, right before the first byte. @returns why the request may not go out any more */
  readonly findWithdrawal?: FindWithdrawal | undefined
}

export interface OutboundResponse {
  readonly status: number
  /** Reason phrase as received: searched by the leak gate, never passed on. */
  readonly statusText: string
  /** Headers as received: lower-case names, repeated ones as separate entries, trailers included and marked. */
  readonly headers: readonly { readonly name: string; readonly value: string; readonly trailer?: boolean }[]
  readonly body: Buffer
  /** More would have followed: only where the request allowed it. */
  readonly isCut?: boolean
}

/** The phase of a failure decides what it costs: before a byte is on the wire it is refunded, afterwards it is ambiguous. */
export type SendFailure =
  | {
      readonly phase: 'before_send'
      readonly reason:
        | 'connect_failed'
        | 'tls_failed'
        | 'address_refused'
        | 'address_mismatch'
        | 'timeout'
        | 'request_rejected'
      /** What is known of a handshake that failed. */
      readonly tls?: TlsProblem | undefined
      /** What `findWithdrawal` said. */
      readonly withdrawal?: GatewayError | undefined
    }
  | { readonly phase: 'after_send'; readonly reason: 'reset' | 'timeout' | 'malformed' | 'body_incomplete' }
  /** The status line was seen, so the outcome is known; the response is just not acceptable. */
  | {
      readonly phase: 'response'
      readonly status: number
      readonly reason: 'too_large' | 'bad_status' | 'encoded'
    }

export type SendResult =
  { readonly ok: true; readonly response: OutboundResponse } | ({ readonly ok: false } & SendFailure)

/** Sends exactly one request on the wire, HTTP/1.1, no redirect, no retry. Never throws. */
export interface Sender {
  send(request: OutboundRequest): Promise<SendResult>
  close(): Promise<void>
}

/** How long the parts of a streamed exchange may take, in milliseconds. */
export interface StreamClocks {
  /** Until the connection stands, its TLS included. */
  readonly connectMs: number
  /** From the request to the head of its answer. */
  readonly firstByteMs: number
  /** Between two pieces of the answer. */
  readonly idleMs: number
  /** Of all of it. */
  readonly totalMs: number
}

export interface StreamRequest extends Pick<
  OutboundRequest,
  'method' | 'url' | 'target' | 'addresses' | 'reach' | 'headers' | 'tls' | 'partition' | 'findWithdrawal'
> {
  /** What is read while it is sent goes out in chunks unless `content-length` is among the headers; an error of it ends the request. */
  readonly body: Buffer | Readable | undefined
  readonly clocks: StreamClocks
  readonly signal: AbortSignal
  /** Whether a part of the answer was asked for, so that 206 is one. */
  readonly takesPart?: boolean | undefined
  /** Asks for a WebSocket; the other headers of the handshake are among the headers. An answer may be given all the same. */
  readonly upgrade?: 'websocket' | undefined
}

/** A connection whose server answered 101. Its clocks, and its end, are up to whoever has it. */
export interface UpgradedConnection extends Pick<OutboundResponse, 'headers'> {
  readonly socket: Duplex
}

/** An answer whose head has come. */
export interface StreamedAnswer extends Pick<OutboundResponse, 'status' | 'statusText' | 'headers'> {
  /** Bytes that follow, where the head says so and there is a body; 0 where there is none. */
  readonly declaredBytes: number | undefined
  /** Whether all of it is here: `next` will not have to wait for the end. */
  readonly isWhole: () => boolean
  /**
   * The next piece, as soon as there is one; undefined at the end.
   * @throws {StreamBroken}
   */
  next(): Promise<Buffer | undefined>
  /** Gives up: the rest is not read, and its connection is closed. Does nothing after the end. */
  cancel(): void
}

export type StreamBreak = 'reset' | 'malformed' | 'idle' | 'total' | 'aborted'

/** An answer that ended before its end. */
export class StreamBroken extends Error {
  readonly reason: StreamBreak
  constructor(reason: StreamBreak) {
    super(`the answer broke off: ${reason}`)
    this.name = 'StreamBroken'
    this.reason = reason
  }
}

export type StreamResult =
  | { readonly ok: true; readonly answer: StreamedAnswer; readonly upgraded?: undefined }
  | { readonly ok: true; readonly upgraded: UpgradedConnection }
  | ({ readonly ok: false } & SendFailure)
  /** Whoever asked went away before the head came. */
  | { readonly ok: false; readonly phase: 'aborted'; readonly isSent: boolean }

/** Sends exactly one request on the wire, like a `Sender`, and hands its answer over while it arrives. Never throws. */
export interface StreamSender {
  open(request: StreamRequest): Promise<StreamResult>
}

/** Everything a secret is bound to at rest; change a column and decryption fails. */
export interface SecretBinding {
  readonly credentialId: string
  readonly accountId: string
  readonly provider: string
  readonly hosts: readonly string[]
  readonly pathPrefixes: readonly string[]
  readonly methods: readonly string[]
  readonly header: string
  readonly scheme: string
  readonly settings: CredentialSettings
  readonly version: number
}

/** Holder of the private half. A KMS or Vault transit implements this too. */
export interface UnwrapAuthority {
  /** Key that new record keys are wrapped to; without a public half where it has none (a symmetric key of a service). */
  current(): { kid: string; publicJwk?: Readonly<Record<string, unknown>> }
  /** @throws when `kid` is unknown or the binding does not match */
  unwrap(wrap: WrappedKey, binding: Buffer): Promise<Buffer>
  wrap(recordKey: Buffer, binding: Buffer): Promise<WrappedKey>
}

/** What the store knows of the keys of a key file. */
export interface KnownKeys {
  /** Ids of those that are published, oldest first: `inUse` are not retired. */
  read(): Promise<{ readonly inUse: readonly string[]; readonly retired: readonly string[] }>
  /** Ids that records are wrapped to. */
  listNeeded(): Promise<readonly string[]>
}

/** The key is where nothing can take its place. Nothing was changed, and to try again changes nothing. */
export class KeyNotReplaceable extends GatewayError {}

/** The wrapping authority as the gateway holds it: usable, publishable and rotatable. */
export interface Authority extends UnwrapAuthority {
  /**
   * Generates and persists a new current key; the old ones keep unwrapping until dropped.
   * @param options.from the key that is to be replaced: where another one is current already, nothing is made
   * @throws {KeyNotReplaceable}
   */
  rotate(options?: { readonly from?: string }): Promise<{ kid: string; previous: readonly string[] }>
  /**
   * Looks before a rotation whether a new key could be kept; left out where it is made elsewhere.
   * @throws {KeyNotReplaceable}
   */
  checkReplaceable?(): Promise<void>
  /** Reads anew which key is current, where another replica may have made one; left out where nothing is remembered of it. */
  reload?(): Promise<void>
  /**
   * Reads anew, and looks whether this process has the key that the other replicas use; left out where nobody has one of their own.
   * @throws {KeyFileFault}
   */
  check?(): Promise<void>
  /** Re-wraps a record key from whichever key it is under to the current one. The secret is not touched. */
  rewrap(wrap: WrappedKey, binding: Buffer): Promise<WrappedKey>
  /** Forgets retired private keys that nothing is wrapped under any more. The current key stays whatever is asked. */
  drop(kids: readonly string[]): Promise<void>
}

/** Seals and opens secrets. Opening yields a Secret: it cannot be printed. */
export interface Vault {
  seal(secret: Secret<string>, binding: SecretBinding): Promise<SealedSecret>
  open(sealed: SealedSecret, binding: SecretBinding): Promise<Secret<string>>
}

/**
 * The texts that a credential is made of, by name. One that is a single text has the one part `secret`.
 * Parts that settings call public (a user name) are in here, too.
 */
export type SecretParts = ReadonlyMap<string, Secret<string>>

/** The fields of a scope that were asked for; the rest stays as the outer scope has it. */
export type WantedScope = { readonly [K in keyof Scope]?: Scope[K] | undefined }

/** What a capability may be asked to cover: a scope, and rules for what lies within it. */
export type WantedCapability = WantedScope & { readonly rules?: EgressRules | undefined }

export interface EgressRequest {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
  readonly body_base64?: string | undefined
  readonly timeout_ms?: number | undefined
  readonly max_bytes?: number | undefined
  /** The caller's: what is asked again under it is not sent again. */
  readonly idempotency_key?: string | undefined
}

/** A budget and whose it is. */
export interface HeldBudget extends BudgetState {
  readonly of: 'capability' | 'credential'
  readonly id: string
}

/** Credential broker and controlled egress (contract, section 7). */
export interface Egress extends Relay {
  /**
   * One attempt: check, debit, resolve, send once, gate, receipt.
   * @throws {GatewayError} target_invalid, header_forbidden, scope_denied, target_blocked, credits_required,
   * upstream_unreachable, credential_unavailable, outcome_ambiguous, secret_reflected, response_too_large,
   * response_unacceptable, egress_paused; under an idempotency key also idempotency_key_reused, idempotency_key_in_use and
   * idempotency_answer_gone
   */
  fetch(request: EgressRequest, capability: CredentialCapability, charge: CreditCharge): Promise<EgressReply>

  /**
   * The capability that a request goes out on: the one that is held, or of a connection's the one whose scope covers the request.
   * @param request `isOfProgram` where the program's placeholder stands in the path, if the credential goes there
   * @throws {GatewayError} scope_denied where a connection has none for it
   */
  capabilityFor(
    held: HeldCapability,
    request: Pick<EgressRequest, 'url' | 'method'> & { readonly isOfProgram?: boolean },
  ): Promise<CredentialCapability>

  /** Most bytes of a request body under the credential behind the capability. */
  maxRequestBytes(capability: HeldCapability): Promise<number>

  createCredential(
    accountId: string,
    input: {
      provider: ProviderId
      label: string
      budgets?: readonly BudgetWish[] | undefined
      secret: SecretParts
      scope: WantedScope
      header?: string | undefined
      scheme?: string | undefined
      settings?: CredentialSettings | undefined
      /** Whose key this is may grant private targets. */
      isAdministrator: boolean
    },
  ): Promise<CredentialMetadata>
  /** @throws {GatewayError} credential_not_found */
  getCredential(accountId: string, credentialId: string): Promise<CredentialMetadata>
  /** How minting goes, of those of these credentials that mint tokens, by id. */
  tokenHealth(
    accountId: string,
    credentials: readonly CredentialMetadata[],
  ): Promise<ReadonlyMap<string, TokenHealth>>
  listCredentials(
    accountId: string,
    page: PageRequest,
  ): Promise<{ items: CredentialMetadata[]; next: string | null }>
  /**
   * @param secret all of its parts; without `refresh_token`, of a credential that has one, the newest one stays
   * @throws {GatewayError} credential_not_found, state_conflict, input_invalid, input_missing_field, credential_unavailable
   */
  rotateCredential(accountId: string, credentialId: string, secret: SecretParts): Promise<CredentialMetadata>
  /**
   * Changes what is not secret, under the next version: permits that were prepared before have to be prepared again.
   * @throws {GatewayError} credential_not_found, state_conflict, input_invalid, admin_required, credential_unavailable
   */
  editCredential(
    accountId: string,
    credentialId: string,
    input: {
      label?: string | undefined
      scope: WantedScope
      settings?: CredentialSettings | undefined
      /** All of its budgets from now on; left out, they stay. */
      budgets?: readonly BudgetWish[] | undefined
      isAdministrator: boolean
      /** Owners alone ask for less approval than before. */
      isOwner: boolean
    },
  ): Promise<EditedCredential>
  /** Ends it, and wipes its sealed secret. */
  revokeCredential(accountId: string, credentialId: string): Promise<CredentialMetadata>
  /** Removes it and everything that was issued on it. @throws {GatewayError} credential_not_found */
  deleteCredential(accountId: string, credentialId: string): Promise<void>

  issueCapability(
    accountId: string,
    input: {
      credentialId: string
      scope: WantedCapability
      ttlSeconds: number
      maxUses: number | null
      budgets?: readonly BudgetWish[] | undefined
      showsBalance?: boolean | undefined
      label: string
    },
  ): Promise<IssuedCapability>
  /** A smaller capability made from one's own: never wider, never longer. */
  narrowCapability(
    from: HeldCapability,
    input: {
      scope: WantedCapability
      ttlSeconds?: number | undefined
      maxUses: number | null
      budgets?: readonly BudgetWish[] | undefined
      /** Left out: as the one it is made from. */
      showsBalance?: boolean | undefined
      label: string
    },
  ): Promise<IssuedCapability>
  listCapabilities(
    accountId: string,
    filter: { credentialId?: string | undefined },
    page: PageRequest,
  ): Promise<{ items: CapabilityRecord[]; next: string | null }>
  /** @param heldBy the capability of the asking agent: it may end that and what was narrowed from it, and finds no other */
  /** Every budget that a capability counts on, as it stands now. */
  listBudgets(of: HeldCapability): Promise<readonly HeldBudget[]>
  revokeCapability(accountId: string, capabilityId: string, heldBy?: string): Promise<{ revoked: number }>

  /**
   * Ends an ambiguous attempt by an operator's word. Never sends anything.
   * @throws {GatewayError} attempt_not_found, admin_required, state_conflict
   */
  reconcileAttempt(
    caller: Operator,
    attemptId: string,
    decision: { decision: 'happened' | 'did_not_happen'; reason: string },
  ): Promise<AttemptRecord>
  getAttempt(caller: Caller, attemptId: string): Promise<AttemptRecord>
  listAttempts(
    caller: Caller,
    filter: { state?: AttemptState | undefined },
    page: PageRequest,
  ): Promise<{ items: AttemptRecord[]; next: string | null }>

  /**
   * Begins a rotation: new wrapping key, every record key re-wrapped, no secret decrypted, no request refused meanwhile. It goes on
   * where the answer says that it runs, and over restarts.
   * @throws {GatewayError} state_conflict while one runs, where no key can be made, or where records could not be opened
   */
  rotateAuthority(): Promise<AuthorityRotation>
  /** The newest rotation with its progress; undefined where there was none. */
  latestRotation(): Promise<AuthorityRotation | undefined>
}
