// Whether a file that holds a key is private: its owner alone may read it.

/** Of `fs.Stats`. */
export interface FileRights {
  readonly mode: number
  readonly uid: number
  readonly gid: number
}

/**
 * The rule of PostgreSQL for its key file: 0600 or less; of root, 0640 or less, since systemd (`LoadCredential=`) and Kubernetes (a
 * Secret under `fsGroup`) hand a key to an unprivileged process that way. To root that goes for a group of others alone: an
 * administrator who looks as root at what the gateway reads has to find what the gateway finds.
 * @param user that this process runs as; undefined where the system has none
 */
export function isPrivateFile({ mode, uid, gid }: FileRights, user = process.getuid?.()): boolean {
  const isHandedOver = uid === 0 && user !== undefined && (user !== 0 || gid !== 0)
  return (mode & (isHandedOver ? 0o037 : 0o077)) === 0
}

/**
 * For a token that lives briefly and that another program writes anew: Vault Agent under a user of its own hands it over by a group,
 * which may read it then.
 */
export const isPrivateToGroup = ({ mode }: Pick<FileRights, 'mode'>): boolean => (mode & 0o027) === 0
