// Every tool of the gateway, listed by hand: what is not here is served nowhere.
import type { AnyTool } from '../src/registry.ts'
import { authorityRotate } from './authority-rotate.ts'
import { capabilities, capabilitiesGet } from './capabilities.ts'
import { creditsBalance, creditsGrant } from './credits.ts'
import { egressAttemptsGet, egressAttemptsList } from './egress-attempts.ts'
import {
  egressCapabilitiesIssue,
  egressCapabilitiesList,
  egressCapabilitiesNarrow,
  egressCapabilitiesRevoke,
} from './egress-capabilities.ts'
import {
  egressCredentialsCreate,
  egressCredentialsList,
  egressCredentialsRevoke,
  egressCredentialsRotate,
} from './egress-credentials.ts'
import { egressManifest, egressPricing, egressProviders } from './egress-documents.ts'
import { egressFetch } from './egress-fetch.ts'
import { execute } from './execute.ts'
import { health } from './health.ts'
import { keysCreate, keysList, keysRevoke } from './keys.ts'
import { protocols } from './protocols.ts'
import { receiptsGet } from './receipts-get.ts'

export const tools: readonly AnyTool[] = [
  execute,
  capabilities,
  capabilitiesGet,
  protocols,
  health,
  egressFetch,
  egressAttemptsGet,
  egressAttemptsList,
  egressProviders,
  egressManifest,
  egressPricing,
  egressCredentialsCreate,
  egressCredentialsList,
  egressCredentialsRotate,
  egressCredentialsRevoke,
  egressCapabilitiesIssue,
  egressCapabilitiesNarrow,
  egressCapabilitiesList,
  egressCapabilitiesRevoke,
  creditsBalance,
  creditsGrant,
  keysCreate,
  keysList,
  keysRevoke,
  receiptsGet,
  authorityRotate,
]
