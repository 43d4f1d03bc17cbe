// What the authorization server keeps between two requests: clients, waiting requests, codes, grants and refresh tokens.
import type { Dialect } from './dialects.ts'

/**
 * `row_hash` and `lookup_hash` are digests of what somebody presents (a code, a token, a user code), `payload` is sealed: no token is in
 * here, and none can be made of what is. `answered_at`: a person has decided on it.
 */
export const oauthTables = ({ id, int, bytes, plain }: Dialect): readonly string[] => [
  `CREATE TABLE oauth_rows (
    row_hash ${bytes} NOT NULL PRIMARY KEY,
    model TEXT NOT NULL,
    grant_id ${id},
    client_id TEXT,
    lookup_hash ${bytes},
    payload TEXT NOT NULL,
    created_at ${int} NOT NULL,
    expires_at ${int} NOT NULL,
    consumed_at ${int},
    answered_at ${int}
  ) ${plain}`,
  `CREATE INDEX oauth_rows_grant ON oauth_rows (grant_id)`,
  `CREATE UNIQUE INDEX oauth_rows_lookup ON oauth_rows (lookup_hash) WHERE lookup_hash IS NOT NULL`,
  `CREATE INDEX oauth_rows_expiry ON oauth_rows (expires_at)`,
  `CREATE INDEX oauth_rows_client ON oauth_rows (model, created_at)`,
]
