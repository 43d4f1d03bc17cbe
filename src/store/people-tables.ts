// Tables of how people show who they are: passkeys, recovery codes, invitations, and challenges that wait for an answer. What is secret in
// them is there as SHA-256 alone; the key of a passkey is public.
import type { Dialect } from './dialects.ts'

const ROLES = `('owner', 'operator', 'approver', 'seller', 'auditor')`

export const signInTables = ({ id, int, bytes, plain }: Dialect): readonly string[] => [
  `CREATE TABLE passkeys (
    id ${id} PRIMARY KEY,
    person_id ${id} NOT NULL REFERENCES people (id),
    credential_id TEXT NOT NULL UNIQUE,
    public_key ${bytes} NOT NULL,
    counter ${int} NOT NULL,
    transports TEXT NOT NULL,
    label TEXT NOT NULL,
    backed_up ${int} NOT NULL CHECK (backed_up IN (0, 1)),
    created_at ${int} NOT NULL,
    used_at ${int}
  ) ${plain}`,
  `CREATE INDEX passkeys_person ON passkeys (person_id, id)`,
  `CREATE TABLE recovery_codes (
    code_hash ${bytes} NOT NULL PRIMARY KEY,
    person_id ${id} NOT NULL REFERENCES people (id),
    created_at ${int} NOT NULL,
    used_at ${int}
  ) ${plain}`,
  `CREATE INDEX recovery_codes_person ON recovery_codes (person_id)`,
  `CREATE TABLE invitations (
    id ${id} PRIMARY KEY,
    account_id ${id} NOT NULL REFERENCES accounts (id),
    role TEXT NOT NULL CHECK (role IN ${ROLES}),
    admin ${int} NOT NULL CHECK (admin IN (0, 1)),
    name TEXT NOT NULL,
    person_id ${id} REFERENCES people (id),
    token_hash ${bytes} NOT NULL UNIQUE,
    invited_by ${id} NOT NULL,
    created_at ${int} NOT NULL,
    expires_at ${int} NOT NULL,
    used_at ${int},
    revoked_at ${int}
  ) ${plain}`,
  `CREATE INDEX invitations_account ON invitations (account_id, id)`,
  `CREATE TABLE sign_in_challenges (
    hash ${bytes} NOT NULL PRIMARY KEY,
    purpose TEXT NOT NULL,
    holder TEXT NOT NULL,
    expires_at ${int} NOT NULL
  ) ${plain}`,
  `CREATE INDEX sign_in_challenges_expiry ON sign_in_challenges (expires_at)`,
  `CREATE TABLE provider_identities (
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    person_id ${id} NOT NULL REFERENCES people (id),
    created_at ${int} NOT NULL,
    PRIMARY KEY (issuer, subject)
  ) ${plain}`,
  `CREATE INDEX provider_identities_person ON provider_identities (person_id)`,
  `CREATE INDEX sessions_account ON sessions (account_id, id)`,
  // Somebody has to let the first person of an account in: the oldest key that it still has.
  `UPDATE service_keys SET role = 'owner' WHERE id IN
    (SELECT min(id) FROM service_keys WHERE revoked_at IS NULL AND role = 'operator' GROUP BY account_id)`,
]
