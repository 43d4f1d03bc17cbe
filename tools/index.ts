// Every tool of the gateway, listed by hand: what is not here is served nowhere.
import type { AnyTool } from '../src/core/registry.ts'
import { actionsApprove } from './actions-approve.ts'
import { actionsExecute } from './actions-execute.ts'
import { actionsMandatesCreate } from './actions-mandates-create.ts'
import { actionsMandatesList } from './actions-mandates-list.ts'
import { actionsMandatesRevoke } from './actions-mandates-revoke.ts'
import { actionsManifest } from './actions-manifest.ts'
import { actionsPermitsEvidence } from './actions-permits-evidence.ts'
import { actionsPermitsGet } from './actions-permits-get.ts'
import { actionsPermitsList } from './actions-permits-list.ts'
import { actionsPermitsWait } from './actions-permits-wait.ts'
import { actionsPrepare } from './actions-prepare.ts'
import { actionsPricing } from './actions-pricing.ts'
import { actionsRefuse } from './actions-refuse.ts'
import { actionsStats } from './actions-stats.ts'
import { auditEvents } from './audit-events.ts'
import { authorityRotate } from './authority-rotate.ts'
import { authorityRotation } from './authority-rotation.ts'
import { sessionsEnd } from './sessions-end.ts'
import { sessionsList } from './sessions-list.ts'
import { settingsChange } from './settings-change.ts'
import { settingsGet } from './settings-get.ts'
import { signingKeysList } from './signing-keys-list.ts'
import { signingKeysRetire } from './signing-keys-retire.ts'
import { signingKeysRevoke } from './signing-keys-revoke.ts'
import { signingKeysRotate } from './signing-keys-rotate.ts'
import { backupGet } from './backup-get.ts'
import { backupMake } from './backup-make.ts'
import { capabilities, capabilitiesGet } from './capabilities.ts'
import { creditsBalance } from './credits-balance.ts'
import { creditsGrant } from './credits-grant.ts'
import { creditsPurchase } from './credits-purchase.ts'
import { discoveryResources } from './discovery-resources.ts'
import { discoverySearch } from './discovery-search.ts'
import { edgeCheck } from './edge-check.ts'
import { edgeForward } from './edge-forward.ts'
import { egressAttemptsGet } from './egress-attempts-get.ts'
import { egressAttemptsList } from './egress-attempts-list.ts'
import { egressAttemptsReconcile } from './egress-attempts-reconcile.ts'
import { egressCapabilitiesIssue } from './egress-capabilities-issue.ts'
import { egressCapabilitiesList } from './egress-capabilities-list.ts'
import { egressCapabilitiesNarrow } from './egress-capabilities-narrow.ts'
import { egressCapabilitiesRevoke } from './egress-capabilities-revoke.ts'
import { egressCredentialsCreate } from './egress-credentials-create.ts'
import { egressCredentialsDelete } from './egress-credentials-delete.ts'
import { egressCredentialsEdit } from './egress-credentials-edit.ts'
import { egressCredentialsGet } from './egress-credentials-get.ts'
import { egressCredentialsList } from './egress-credentials-list.ts'
import { egressCredentialsRevoke } from './egress-credentials-revoke.ts'
import { egressCredentialsRotate } from './egress-credentials-rotate.ts'
import { egressManifest } from './egress-manifest.ts'
import { egressPricing } from './egress-pricing.ts'
import { egressProviders } from './egress-providers.ts'
import { egressFetch } from './egress-fetch.ts'
import { emailKeysList } from './email-keys-list.ts'
import { emailKeysRevoke } from './email-keys-revoke.ts'
import { emailVerify } from './email-verify.ts'
import { emailVerifyBatch } from './email-verify-batch.ts'
import { execute } from './execute.ts'
import { facilitatorIdentity } from './facilitator-identity.ts'
import { facilitatorRoute } from './facilitator-route.ts'
import { facilitatorSettle } from './facilitator-settle.ts'
import { facilitatorSupported } from './facilitator-supported.ts'
import { facilitatorVerify } from './facilitator-verify.ts'
import { health } from './health.ts'
import { identityProviderGet } from './identity-provider-get.ts'
import { identityProviderSet } from './identity-provider-set.ts'
import { inspectTransaction } from './inspect.ts'
import { keysCreate } from './keys-create.ts'
import { keysFree } from './keys-free.ts'
import { connectionsChange } from './connections-change.ts'
import { connectionsGet } from './connections-get.ts'
import { connectionsList } from './connections-list.ts'
import { connectionsRevoke } from './connections-revoke.ts'
import { keysList } from './keys-list.ts'
import { keysRevoke } from './keys-revoke.ts'
import { marketplaceCall } from './marketplace-call.ts'
import { marketplaceFee } from './marketplace-fee.ts'
import { marketplacePayouts } from './marketplace-payouts.ts'
import { marketplacePayoutsRun } from './marketplace-payouts-run.ts'
import { marketplacePayoutsState } from './marketplace-payouts-state.ts'
import { marketplacePayoutsVerify } from './marketplace-payouts-verify.ts'
import { marketplaceGet } from './marketplace-get.ts'
import { marketplaceRate } from './marketplace-rate.ts'
import { marketplaceSellersRegister } from './marketplace-sellers-register.ts'
import { marketplaceSellersGet } from './marketplace-sellers-get.ts'
import { marketplaceSellersRecover } from './marketplace-sellers-recover.ts'
import { marketplaceSellerState } from './marketplace-seller-state.ts'
import { marketplaceSellerEdit } from './marketplace-seller-edit.ts'
import { marketplaceSellerKey } from './marketplace-seller-key.ts'
import { marketplaceSellerEvents } from './marketplace-seller-events.ts'
import { marketplaceHostsClaim } from './marketplace-hosts-claim.ts'
import { marketplaceHostsVerify } from './marketplace-hosts-verify.ts'
import { marketplaceListingsCreate } from './marketplace-listings-create.ts'
import { marketplaceListingsImport } from './marketplace-listings-import.ts'
import { marketplaceListingsUpdate } from './marketplace-listings-update.ts'
import { marketplaceListingsStep } from './marketplace-listings-step.ts'
import { marketplaceListingsCheck } from './marketplace-listings-check.ts'
import { marketplaceListingsCredential } from './marketplace-listings-credential.ts'
import { marketplaceModerationQueue } from './marketplace-moderation-queue.ts'
import { marketplaceModerationDecide } from './marketplace-moderation-decide.ts'
import { marketplaceSearch } from './marketplace-search.ts'
import { marketplaceSellerRefund } from './marketplace-seller-refund.ts'
import { marketplaceSellerStatement } from './marketplace-seller-statement.ts'
import { peopleInvite } from './people-invite.ts'
import { peopleList } from './people-list.ts'
import { peopleRemove } from './people-remove.ts'
import { peopleRole } from './people-role.ts'
import { peopleWithdraw } from './people-withdraw.ts'
import { policiesCheck } from './policies-check.ts'
import { policiesGet } from './policies-get.ts'
import { policiesHistory } from './policies-history.ts'
import { policiesList } from './policies-list.ts'
import { policiesRevision } from './policies-revision.ts'
import { policiesUpdate } from './policies-update.ts'
import { preflight } from './preflight.ts'
import { pricing } from './pricing.ts'
import { pricingQuote } from './pricing-quote.ts'
import { notificationsAdd } from './notifications-add.ts'
import { notificationsList } from './notifications-list.ts'
import { notificationsRemove } from './notifications-remove.ts'
import { notificationsTest } from './notifications-test.ts'
import { paymentsClose } from './payments-close.ts'
import { paymentsGet } from './payments-get.ts'
import { paymentsList } from './payments-list.ts'
import { paymentsReconcile } from './payments-reconcile.ts'
import { paymentsRefund } from './payments-refund.ts'
import { paymentsRefunds } from './payments-refunds.ts'
import { paymentsRevenue } from './payments-revenue.ts'
import { paymentsShow } from './payments-show.ts'
import { paymentsSpend } from './payments-spend.ts'
import { protocols } from './protocols.ts'
import { receiptsGet } from './receipts-get.ts'
import { testTransaction } from './test.ts'
import { testSchema } from './test-schema.ts'
import { webFetch } from './web-fetch.ts'

export const tools: readonly AnyTool[] = [
  execute,
  capabilities,
  capabilitiesGet,
  webFetch,
  preflight,
  pricing,
  pricingQuote,
  protocols,
  health,
  inspectTransaction,
  testTransaction,
  testSchema,
  egressFetch,
  egressAttemptsGet,
  egressAttemptsList,
  egressAttemptsReconcile,
  egressProviders,
  egressManifest,
  egressPricing,
  egressCredentialsCreate,
  egressCredentialsList,
  egressCredentialsGet,
  egressCredentialsRotate,
  egressCredentialsEdit,
  egressCredentialsRevoke,
  egressCredentialsDelete,
  egressCapabilitiesIssue,
  egressCapabilitiesNarrow,
  egressCapabilitiesList,
  egressCapabilitiesRevoke,
  actionsExecute,
  actionsPrepare,
  actionsApprove,
  actionsRefuse,
  actionsPermitsEvidence,
  actionsPermitsGet,
  actionsPermitsList,
  actionsPermitsWait,
  actionsMandatesCreate,
  actionsMandatesList,
  actionsMandatesRevoke,
  actionsManifest,
  actionsPricing,
  actionsStats,
  edgeCheck,
  edgeForward,
  emailVerify,
  emailVerifyBatch,
  creditsBalance,
  creditsGrant,
  creditsPurchase,
  discoveryResources,
  discoverySearch,
  marketplaceSearch,
  marketplaceGet,
  marketplaceRate,
  marketplaceSellersRegister,
  marketplaceSellersGet,
  marketplaceSellersRecover,
  marketplaceSellerState,
  marketplaceSellerEdit,
  marketplaceSellerKey,
  marketplaceSellerEvents,
  marketplaceHostsClaim,
  marketplaceHostsVerify,
  marketplaceListingsCreate,
  marketplaceListingsImport,
  marketplaceListingsUpdate,
  marketplaceListingsStep,
  marketplaceListingsCheck,
  marketplaceListingsCredential,
  marketplaceModerationQueue,
  marketplaceModerationDecide,
  marketplaceCall,
  marketplaceFee,
  marketplacePayouts,
  marketplacePayoutsRun,
  marketplacePayoutsState,
  marketplacePayoutsVerify,
  marketplaceSellerRefund,
  marketplaceSellerStatement,
  keysFree,
  emailKeysList,
  emailKeysRevoke,
  keysCreate,
  keysList,
  connectionsList,
  connectionsGet,
  connectionsChange,
  connectionsRevoke,
  keysRevoke,
  peopleList,
  peopleInvite,
  peopleWithdraw,
  peopleRole,
  peopleRemove,
  sessionsList,
  sessionsEnd,
  notificationsList,
  notificationsAdd,
  notificationsTest,
  notificationsRemove,
  identityProviderGet,
  identityProviderSet,
  settingsGet,
  settingsChange,
  backupMake,
  backupGet,
  paymentsGet,
  paymentsRefund,
  paymentsRefunds,
  paymentsList,
  paymentsShow,
  paymentsReconcile,
  paymentsClose,
  paymentsRevenue,
  paymentsSpend,
  facilitatorVerify,
  facilitatorSettle,
  facilitatorSupported,
  facilitatorIdentity,
  facilitatorRoute,
  receiptsGet,
  authorityRotate,
  authorityRotation,
  auditEvents,
  policiesList,
  policiesGet,
  policiesCheck,
  policiesUpdate,
  policiesHistory,
  policiesRevision,
  signingKeysList,
  signingKeysRotate,
  signingKeysRetire,
  signingKeysRevoke,
]
