// Whether a file that holds a key is private: its owner alone may read it.

/** Of `fs.Stats`. */
export interface FileRights {
  readonly mode: number
  readonly uid: number
}

/**
 * The rule of PostgreSQL for its key file: 0600 or less; of root, 0640 or less, since systemd (`LoadCredential=`) and Kubernetes (a
 * Secret under `fsGroup`) hand a key to an unprivileged process that way.
 * @param user that this process runs as; undefined where the system has none
 */
export function isPrivateFile({ mode, uid }: FileRights, user = process.getuid?.()): boolean {
  const isHandedOver = uid === 0 && user !== undefined && user !== 0
  return (mode & (isHandedOver ? 0o037 : 0o077)) === 0
}
