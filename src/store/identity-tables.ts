// Tables of sign-in: people and what they may do, their sessions, and the assistants that they allowed to connect. Whoever holds a token
// is found by its SHA-256; no token is in any of them.
import type { Dialect } from './dialects.ts'

const KEY_ROLES = `('owner', 'operator', 'approver', 'seller', 'auditor')`

/** Service keys carry the roles of people, and the capability at the root of a connection is for no credential itself. */
export function widenForRoles({ engine, id, int, bytes, plain }: Dialect): readonly string[] {
  if (engine === 'postgres')
    return [
      `ALTER TABLE service_keys DROP CONSTRAINT service_keys_role_check,
       ADD CONSTRAINT service_keys_role_check CHECK (role IN ${KEY_ROLES})`,
      `ALTER TABLE capabilities ALTER COLUMN credential_id DROP NOT NULL`,
    ]
  // SQLite cannot change a constraint.
  const keys = 'id, account_id, key_hash, label, admin, created_at, revoked_at, role'
  const capabilities =
    'id, account_id, credential_id, parent_id, token_hash, label, scope, max_uses, uses, created_at, expires_at, revoked_at, root_id, budgeted, shows_balance'
  return [
    `CREATE TABLE service_keys_new (
      id ${id} PRIMARY KEY,
      account_id ${id} NOT NULL REFERENCES accounts (id),
      key_hash ${bytes} NOT NULL UNIQUE,
      label TEXT NOT NULL,
      admin ${int} NOT NULL CHECK (admin IN (0, 1)),
      created_at ${int} NOT NULL,
      revoked_at ${int},
      role TEXT NOT NULL DEFAULT 'operator' CHECK (role IN ${KEY_ROLES})
    ) ${plain}`,
    `INSERT INTO service_keys_new (${keys}) SELECT ${keys} FROM service_keys ORDER BY id`,
    `DROP TABLE service_keys`,
    `ALTER TABLE service_keys_new RENAME TO service_keys`,
    `CREATE INDEX service_keys_account ON service_keys (account_id, id)`,
    `CREATE TABLE capabilities_new (
      id ${id} PRIMARY KEY,
      account_id ${id} NOT NULL REFERENCES accounts (id),
      credential_id ${id} REFERENCES credentials (id),
      parent_id ${id},
      token_hash ${bytes} NOT NULL UNIQUE,
      label TEXT NOT NULL,
      scope TEXT NOT NULL,
      max_uses ${int},
      uses ${int} NOT NULL,
      created_at ${int} NOT NULL,
      expires_at ${int} NOT NULL,
      revoked_at ${int},
      root_id ${id} NOT NULL DEFAULT '',
      budgeted ${int} NOT NULL DEFAULT 0 CHECK (budgeted IN (0, 1)),
      shows_balance ${int} NOT NULL DEFAULT 0 CHECK (shows_balance IN (0, 1))
    ) ${plain}`,
    `INSERT INTO capabilities_new (${capabilities}) SELECT ${capabilities} FROM capabilities ORDER BY id`,
    `DROP TABLE capabilities`,
    `ALTER TABLE capabilities_new RENAME TO capabilities`,
    `CREATE INDEX capabilities_account ON capabilities (account_id, id)`,
    `CREATE INDEX capabilities_credential ON capabilities (credential_id, id)`,
    `CREATE INDEX capabilities_expiry ON capabilities (expires_at)`,
  ]
}

/** `admin`: of the installation's first account. `fresh_at`: when the person last showed that it is them. */
export const peopleTables = ({ id, int, bytes, plain, clustered }: Dialect): readonly string[] => [
  `CREATE TABLE people (
    id ${id} PRIMARY KEY,
    name TEXT NOT NULL,
    created_at ${int} NOT NULL,
    disabled_at ${int}
  ) ${plain}`,
  `CREATE TABLE memberships (
    account_id ${id} NOT NULL REFERENCES accounts (id),
    person_id ${id} NOT NULL REFERENCES people (id),
    role TEXT NOT NULL CHECK (role IN ${KEY_ROLES}),
    admin ${int} NOT NULL CHECK (admin IN (0, 1)),
    created_at ${int} NOT NULL,
    PRIMARY KEY (account_id, person_id)
  ) ${clustered}`,
  `CREATE INDEX memberships_person ON memberships (person_id, account_id)`,
  `CREATE TABLE sessions (
    id ${id} PRIMARY KEY,
    person_id ${id} NOT NULL REFERENCES people (id),
    account_id ${id} NOT NULL REFERENCES accounts (id),
    token_hash ${bytes} NOT NULL UNIQUE,
    method TEXT NOT NULL CHECK (method IN ('passkey', 'recovery', 'oidc')),
    address TEXT NOT NULL,
    user_agent TEXT NOT NULL,
    created_at ${int} NOT NULL,
    seen_at ${int} NOT NULL,
    fresh_at ${int} NOT NULL,
    expires_at ${int} NOT NULL,
    revoked_at ${int}
  ) ${plain}`,
  `CREATE INDEX sessions_person ON sessions (person_id, id)`,
  `CREATE INDEX sessions_expiry ON sessions (expires_at)`,
]

/** A connection owns the capability at its root, and through it one for each credential. */
export const connectionTables = ({ id, int, bytes, plain }: Dialect): readonly string[] => [
  `CREATE TABLE connections (
    id ${id} PRIMARY KEY,
    account_id ${id} NOT NULL REFERENCES accounts (id),
    person_id ${id} NOT NULL REFERENCES people (id),
    capability_id ${id} NOT NULL UNIQUE,
    client_id TEXT NOT NULL,
    client_name TEXT NOT NULL,
    client_host TEXT,
    redirect_host TEXT NOT NULL,
    grant_id ${id} NOT NULL UNIQUE,
    may_pay ${int} NOT NULL CHECK (may_pay IN (0, 1)),
    may_operate ${int} NOT NULL CHECK (may_operate IN (0, 1)),
    created_at ${int} NOT NULL,
    changed_at ${int} NOT NULL,
    used_at ${int},
    revoked_at ${int}
  ) ${plain}`,
  `CREATE INDEX connections_account ON connections (account_id, id)`,
  `CREATE INDEX connections_person ON connections (person_id, id)`,
  `CREATE INDEX connections_client ON connections (client_id, id)`,
  `CREATE TABLE access_tokens (
    token_hash ${bytes} NOT NULL PRIMARY KEY,
    connection_id ${id} NOT NULL REFERENCES connections (id),
    created_at ${int} NOT NULL,
    expires_at ${int} NOT NULL
  ) ${plain}`,
  `CREATE INDEX access_tokens_connection ON access_tokens (connection_id)`,
  `CREATE INDEX access_tokens_expiry ON access_tokens (expires_at)`,
]

/** Every call of a connected assistant asks for the parts of its root; few capabilities have a parent. */
export const capabilityParts = (): readonly string[] => [
  `CREATE INDEX capabilities_parent ON capabilities (parent_id) WHERE parent_id IS NOT NULL AND revoked_at IS NULL`,
]
