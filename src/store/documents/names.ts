// Documents by their names. Only what is named here is carried from a data directory to another place: any other file in it is somebody else's, and may be a key.
export const DOCUMENT_NAMES = [
  'derivation-key-check',
  'egress-policy',
  'email-domains',
  'identity-provider',
  'installation',
  'interception-roots',
  'market',
  /** Of a migration: where the data came from (src/app/transfer/migrate.ts). */
  'moved-from',
  'payment-policy',
  'runtime-settings',
  'transaction-policy',
] as const
export type DocumentName = (typeof DOCUMENT_NAMES)[number]
