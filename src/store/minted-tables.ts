// The table of minted tokens, as a step of migrations.ts: a released one is never edited.
import type { Dialect } from './dialects.ts'

/** One row for each credential that tokens are minted from; gone with its revocation. */
export const mintedTables = ({ id, int, plain }: Dialect): readonly string[] => [
  `CREATE TABLE minted_tokens (
    credential_id ${id} PRIMARY KEY REFERENCES credentials (id) ON DELETE CASCADE,
    account_id ${id} NOT NULL,
    key_id ${id} NOT NULL,
    generation ${int} NOT NULL,
    ciphertext TEXT,
    iv TEXT,
    tag TEXT,
    minted_at ${int},
    usable_until ${int},
    claim ${id},
    claimed_until ${int},
    failure TEXT,
    failures ${int} NOT NULL,
    retry_at ${int}
  ) ${plain}`,
]
