// The platform that every part stands on: the store, the keys of this installation, and the one safe way out.
import { randomUUID } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Addresses, Config } from '../core/config.ts'
import { type AddressPolicy, createAddressPolicy } from '../egress/address.ts'
import { openAuthorities } from '../egress/adapters/key-services/open.ts'
import { createResolver } from '../egress/adapters/dns.ts'
import { openProviders } from '../egress/adapters/providers-file.ts'
import { openSearchThreads } from '../egress/adapters/search/threads.ts'
import { createSender } from '../egress/adapters/undici.ts'
import type { SearchThreads } from '../egress/leak/inspection.ts'
import type { Authority, Sender, StreamSender } from '../egress/ports.ts'
import type { Providers } from '../egress/providers/index.ts'
import { knownKeys, listSealingKeys } from '../egress/rotation/keys.ts'
import { SANDBOX_ADDRESS } from '../egress/target.ts'
import { type OnFault, uncounted } from '../core/faults.ts'
import { type Fault, parseFault } from '../lib/fault-points.ts'
import type { Logger } from '../lib/log.ts'
import { makeDirectory } from '../store/make-directory.ts'
import { ConfigError } from '../core/errors.ts'
import { createRateSharing, type RateSharing } from '../core/rate-sharing.ts'
import { type DeriveKey, openDerivationKey } from '../receipts/adapters/derivation-key.ts'
import { type InstallationSigner, openSigner, REFRESH_MS } from '../receipts/adapters/signer.ts'
import { readSigningKeys } from '../receipts/adapters/signing-key-file.ts'
import { withSampleSite } from '../sandbox/sender.ts'
import { createSampleSite } from '../sandbox/site.ts'
import { openDocumentStore, openStore } from '../store/index.ts'
import type { DocumentStore, Store } from '../store/ports.ts'
import { type ObservedResolver, observeResolver } from './health.ts'
import { type AuthorityWatch, watchAuthority } from './authority-watch.ts'
import { startTelemetry } from './telemetry.ts'
import { observeFaults } from '../telemetry/observe-faults.ts'
import { observeSender } from '../telemetry/observe-sender.ts'
import { observeStore } from '../telemetry/observe-store.ts'
import type { OpenTelemetry } from '../telemetry/adapters/open.ts'
import type { Clock } from './clock.ts'
import { claimInstallation, sharesDerivationKey } from './installation.ts'
import type { Lifetime } from './lifetime.ts'

export interface Platform {
  readonly config: Config
  readonly addresses: Addresses
  readonly isSandbox: boolean
  readonly log: Logger
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Names this process, so that what it left behind is told from what another one is doing. */
  readonly bootId: string
  readonly fault: Fault
  /** Undefined where nothing is measured: then no part is wrapped. */
  readonly telemetry: OpenTelemetry | undefined
  readonly onFault: OnFault
  readonly store: Store
  readonly documents: DocumentStore
  /** What the other processes of this installation count of its limits; undefined where there is one. */
  readonly rates: RateSharing | undefined
  readonly authority: Authority
  /** Whether what holds its key answers. */
  readonly authorityWatch: AuthorityWatch
  /** The gateway's own and the operator's. */
  readonly providers: Providers
  readonly signer: InstallationSigner
  /** Keys for uses inside the gateway; they outlive every signing key. */
  readonly deriveKey: DeriveKey
  /** Whether its keys are those of the other replicas. */
  readonly hasSharedKey: boolean
  readonly sender: Sender & StreamSender
  /** Search what comes back, where that takes longer than a turn of the event loop may. */
  readonly searchThreads: SearchThreads
  readonly resolver: ObservedResolver
  /** The addresses that any request may reach: the public internet. A private range belongs to a credential (private-targets.ts). */
  readonly policy: AddressPolicy
  /** PEM of authorities that outbound TLS trusts besides the default ones. */
  readonly extraCa: readonly string[] | undefined
}

/** @throws {ConfigError} when the data directory is in use, of the other mode, or its key files cannot be used */
export async function openPlatform(
  parts: Pick<Platform, 'config' | 'addresses' | 'log' | 'now' | 'extraCa'> & {
    /** That says `now`, where nothing else does. */
    readonly clock?: Clock | undefined
    readonly publicAddresses?: AddressPolicy | undefined
    readonly certificateVerdictMs?: number | undefined
  },
  lifetime: Lifetime,
): Promise<Platform> {
  const { config, log, now, clock, extraCa } = parts
  const isSandbox = config.mode === 'sandbox'
  const bootId = randomUUID()
  const fault = parseFault(config.fault)
  const providers = await openProviders(config.providersFile)
  makeDirectory(config.dataDir)
  if (((await stat(config.dataDir)).mode & 0o077) !== 0)
    log.warn({ directory: config.dataDir }, 'the data directory is open to other users: close it (chmod 700)')

  const telemetry = await startTelemetry(config, { log, bootId }, lifetime)
  const onFault = telemetry ? observeFaults(telemetry) : uncounted
  const openedStore = await openStore({
    config,
    log,
    bootId,
    onPartitionsMissing: () => onFault('partitions_missing'),
  })
  lifetime.onClose(() => openedStore.close())
  const store = telemetry ? observeStore(telemetry, openedStore) : openedStore
  if (clock && openedStore.readClock) await clock.follow(openedStore.readClock)
  lifetime.onClose(() => clock?.close())
  const exchange = await openExchange(config.redisUrl, { store, bootId, log }, lifetime)
  const rates = exchange && createRateSharing({ exchange, elapsedMs: () => performance.now(), log })
  lifetime.onClose(() => rates?.close())
  const documents = await openDocumentStore({ config, log })
  lifetime.onClose(() => documents.close())
  await claimInstallation(documents, config)

  const signingKeyFile = join(config.dataDir, 'signing.jwk')
  const opened = await openAuthorities({
    specs: config.authorities,
    file: config.authorityKeyFile,
    vaultTokenFile: config.vaultTokenFile,
    vaultNamespace: config.vaultNamespace,
    sealedTo: await listSealingKeys(store),
    known: knownKeys(store),
    log,
    environment: process.env,
    now,
  })
  lifetime.onClose(() => opened.close())
  const { authority, watch: authorityWatch } = watchAuthority(opened, {
    elapsedMs: () => performance.now(),
    log,
  })
  const derivationKeyFile = join(config.dataDir, 'derivation.jwk')
  const deriveKey = await openDerivationKey({
    file: derivationKeyFile,
    // Earlier releases derived from the signing key.
    inherited: async () => {
      const [first] = (await readSigningKeys(signingKeyFile)) ?? []
      return first && Buffer.from(first.jwk.d, 'base64url')
    },
  })
  const hasReplicas = store.engine === 'postgres'
  const hasSharedKey = await sharesDerivationKey(documents, deriveKey)
  if (!hasSharedKey && !hasReplicas)
    throw new ConfigError([
      `${derivationKeyFile} is not the key that this data was begun with: without that one no buyer can fetch a result that is paid for, and calls ` +
        'under an Idempotency-Key would be sent again. Restore it from a backup. Where there is none, delete ' +
        `${join(config.dataDir, 'derivation-key-check.json')}: the start then goes on with this key, and those results are lost`,
    ])
  if (!hasSharedKey)
    log.warn(
      'derivation.jwk is not that of the other replicas: results bought from one are not released by the other, and calls under an ' +
        'idempotency key are refused here, since the others would send them again. Copy it from them.',
    )
  const signer = await openSigner({
    file: signingKeyFile,
    store,
    now,
    environment: config.mode,
    hasReplicas,
    fault,
  })
  if (hasReplicas) lifetime.onClose(keepFresh(signer, log))

  const policy = parts.publicAddresses ?? createAddressPolicy([])
  const outside = createSender({
    fault,
    policy,
    certificateVerdictMs: parts.certificateVerdictMs,
    ...(extraCa && { ca: extraCa }),
  })
  const wayOut = isSandbox
    ? withSampleSite(outside, createSampleSite(now), (ca) =>
        createSender({ fault, ca: [ca], policy: createAddressPolicy([`${SANDBOX_ADDRESS}/32`]) }),
      )
    : outside
  lifetime.onClose(() => wayOut.close())
  const knownHosts = new Set(providers.list().flatMap(({ hosts }) => hosts))
  const sender = telemetry ? observeSender(telemetry, wayOut, knownHosts) : wayOut
  const searchThreads = openSearchThreads({ log })
  lifetime.onClose(() => searchThreads.close())

  return {
    ...parts,
    isSandbox,
    bootId,
    fault,
    telemetry,
    onFault,
    store,
    documents,
    rates,
    authority,
    authorityWatch,
    providers,
    signer,
    deriveKey,
    hasSharedKey,
    sender,
    searchThreads,
    resolver: observeResolver(createResolver(config.dnsServers), config.dnsServers, now),
    policy,
  }
}

/** Hears of rotations elsewhere. @returns what stops it */
function keepFresh(signer: Pick<InstallationSigner, 'refresh'>, log: Logger): () => void {
  let isReading = false
  const timer = setInterval(() => {
    if (isReading) return
    isReading = true
    signer
      .refresh()
      .catch((err: unknown) =>
        log.warn({ err }, 'the signing keys could not be refreshed; it is tried again'),
      )
      .finally(() => (isReading = false))
  }, REFRESH_MS)
  timer.unref()
  return () => clearInterval(timer)
}

/** How processes tell each other of the limits that they count; undefined where there is one process. */
async function openExchange(
  redisUrl: string | undefined,
  { store, bootId, log }: { store: Store; bootId: string; log: Logger },
  lifetime: Lifetime,
): Promise<Store['exchangeRates']> {
  if (store.exchangeRates === undefined || redisUrl === undefined) return store.exchangeRates
  // Loaded on demand: most gateways have no Redis.
  const { openRedisRates, orElse } = await import('../store/redis/rates.ts')
  const redis = openRedisRates({ url: redisUrl, bootId, log })
  lifetime.onClose(() => redis.close())
  return orElse(redis.exchange, store.exchangeRates)
}
