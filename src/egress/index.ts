// Credential broker and controlled egress, as the rest of the gateway sees it.
import type { Alerts } from '../core/alerts.ts'
import type { KeyObject } from 'node:crypto'
import type { Addresses } from '../core/config.ts'
import type { OnFault } from '../core/faults.ts'
import { everyTurn } from '../lib/every-turn.ts'
import type { Fault } from '../lib/fault-points.ts'
import type { Logger } from '../lib/log.ts'
import type { Egress } from './ports.ts'
import type { CreditsRequired } from '../core/charging.ts'
import type { Signer } from '../receipts/ports.ts'
import type { DocumentStore, Store } from '../store/ports.ts'
import type { AddressPolicy } from './address.ts'
import { createAttemptLedger } from './attempts.ts'
import { createChooseCapability } from './choose-capability.ts'
import { createCapabilities } from './capabilities.ts'
import { createCredentials } from './credentials.ts'
import { capabilityGrant } from './capability-grant.ts'
import { boundLargeCalls, createLargeCalls } from './limits/large-calls.ts'
import { createForward, type Forward } from './forward.ts'
import { type CreateLeakGate, createLeakGates, type SearchThreads } from './leak/inspection.ts'
import { createEditions } from './kinds/editions.ts'
import { createKinds } from './kinds/index.ts'
import { createTokenHttp } from './kinds/token-http.ts'
import { createOpenedCredentials } from './opened-credential-cache.ts'
import { checkPolicy, createPolicyReader, type PolicyVerdict } from './policy.ts'
import type { Authority, Resolver, Sender, StreamSender, TlsTrial, Vault } from './ports.ts'
import type { Providers } from './providers/index.ts'
import { createReconciliations } from './reconciliation/index.ts'
import { createRotations } from './rotation/job.ts'
import { publishAuthority } from './rotation/keys.ts'
import { createSealGate } from './sealing.ts'
import { MAX_REQUEST_BYTES, type PreparedRequest } from './request.ts'
import type { AskPeople } from './relay/ask.ts'
import { createRelay } from './relay/index.ts'
import { createReach } from './reach/private-targets.ts'
import { applyPolicy } from './reserve.ts'
import { createRevocations } from './revocations.ts'
import { createRunner, type Runner } from './run.ts'
import { createUnrecorded, type Unrecorded } from './unrecorded.ts'

export interface EgressParts {
  /** People are told of what needs them. */
  readonly alerts?: Alerts | undefined
  /** Asks the runtime to forget what it does not need any more; called when no credential is in use. */
  readonly collectYoung?: () => void
  readonly store: Store
  readonly documents: DocumentStore
  readonly providers: Providers
  readonly resolver: Resolver
  readonly sender: Sender & StreamSender
  readonly tryTls: TlsTrial
  readonly vault: Vault
  readonly searchThreads: SearchThreads
  readonly authority: Authority
  /** The addresses that any request may reach. */
  readonly policy: AddressPolicy
  /** Ranges in which private targets may be granted to credentials. */
  readonly allowPrivateCidrs: readonly string[]
  readonly signer: Signer
  /** Key of the Idempotency-Key values; the same at every start of an installation. */
  readonly idempotencyKey: KeyObject
  /** Key of what follows from the keys of callers; undefined where it is another one than the other replicas have. */
  readonly callerKeys: KeyObject | undefined
  readonly addresses: Addresses
  /** The 402 for credits, with the offer to buy some. */
  readonly creditsRequired: CreditsRequired
  readonly egressPorts: readonly number[]
  /** Sandbox only: the reserved name of the sample site may be a target. */
  readonly allowSandboxName: boolean
  readonly bootId: string
  readonly now: () => number
  readonly log: Logger
  readonly onFault?: OnFault
  readonly fault: Fault
  /** Shows a request of an unmodified program to people, and waits for them. */
  readonly askPeople: AskPeople
  /** Replaces the leak gate; only the test that proves the gate necessary does. */
  readonly createLeakGate?: CreateLeakGate
  /** For what follows a message that may end with the beginning of a secret; for tests. */
  readonly messageHoldMs?: number | undefined
}

export interface OpenEgress extends Egress {
  /** The engine under every kind of attempt. */
  readonly runner: Runner
  /** Requests with a credential, on whatever grant. */
  readonly forward: Forward
  /** Requests whose record another part keeps. */
  readonly unrecorded: Unrecorded
  /** @throws {GatewayError} egress_paused, target_blocked */
  applyPolicy(request: PreparedRequest): Promise<void>
  /** Publishes the wrapping key and settles what crashes left behind, at start and then periodically. */
  recover(): Promise<void>
  /** Stops what runs in the background; another process, or the next start, goes on with it. */
  close(): Promise<void>
  /** Asks the operator's egress policy, for every other part that goes out. */
  checkHost(host: string): Promise<PolicyVerdict>
}

/** The broker: credentials, capabilities, attempts and requests with a credential. */
export function createEgress(parts: EgressParts): OpenEgress {
  const { store, log, now, authority } = parts
  const baseUrl = parts.addresses.baseUrl
  const seals = createSealGate()
  const reconciliations = createReconciliations({ ...parts, baseUrl })
  const attempts = createAttemptLedger({ ...parts, baseUrl, findReconciliation: reconciliations.find })
  const readPolicy = createPolicyReader(
    parts.documents,
    (problem) => log.warn({ reason: problem }, 'egress-policy'),
    now,
  )
  const checkHost = async (host: string) => checkPolicy(await readPolicy(), host)
  const createLeakGate = parts.createLeakGate ?? createLeakGates(parts.searchThreads)
  const reach = createReach(parts.policy, parts.allowPrivateCidrs)
  const tokenHttp = { ...parts, reach, checkHost }
  const editions = createEditions()
  const opened = createOpenedCredentials({
    vault: parts.vault,
    createLeakGate,
    now,
    ...(parts.collectYoung && { onIdle: parts.collectYoung }),
  })
  const kinds = createKinds({
    ...parts,
    ...opened,
    createLeakGate,
    editions,
    askFor: (credential, exchanging) => createTokenHttp(tokenHttp, credential, exchanging),
  })
  const revocations = createRevocations(parts)
  const runner = createRunner({ ...parts, ...opened, attempts, reach, kinds, revocations, baseUrl })
  const large = createLargeCalls()
  const forward = boundLargeCalls(
    createForward({ ...parts, runner, readPolicy, ports: parts.egressPorts, baseUrl }),
    large,
  )
  const capabilityFor = createChooseCapability(store)
  const relay = createRelay({
    ...parts,
    attempts,
    runner,
    revocations,
    readPolicy,
    capabilityFor,
    large,
    baseUrl,
  })
  const rotations = createRotations({ ...parts, seals })

  return {
    ...createCredentials({ ...parts, seals, editions }),
    ...createCapabilities({ store, now }),
    capabilityFor,
    ...relay,
    runner,
    forward,
    unrecorded: createUnrecorded({ ...parts, ...opened, reach, kinds, readPolicy }),
    applyPolicy: async (request) => applyPolicy(await readPolicy(), request),
    fetch: (request, capability, charge) => forward.send(request, capabilityGrant(store, capability), charge),
    reconcileAttempt: reconciliations.reconcile,
    async maxRequestBytes(held) {
      const parts = held.credentialId === null ? (held.parts ?? (await store.findParts(held.id))) : [held]
      const bytes = await Promise.all(
        parts.map(async ({ credentialId }) => {
          const credential = credentialId && (await store.getCredential(credentialId, held.accountId))
          return (credential && credential.settings.limits?.max_request_bytes) || MAX_REQUEST_BYTES
        }),
      )
      return Math.max(...bytes, MAX_REQUEST_BYTES)
    },
    getAttempt: attempts.get,
    listAttempts: attempts.list,
    rotateAuthority: rotations.start,
    latestRotation: rotations.latest,
    checkHost,
    async recover() {
      await everyTurn(
        [
          () => publishAuthority({ store, authority, now }),
          () => attempts.recover(),
          () => rotations.resume(),
        ],
        (part) => part(),
      )
    },
    async close() {
      revocations.close()
      await Promise.all([rotations.close(), kinds.settled()])
    },
  }
}
