// The part of `pkcs11js` that is used, which is installed only where a token is: its own types are not there to compile with.

export type Handle = Buffer
export interface Attribute {
  readonly type: number
  readonly value?: number | boolean | string | Buffer
}

export interface Cryptoki {
  load(path: string): void
  C_Initialize(): void
  C_GetSlotList(withToken: boolean): Handle[]
  /** Texts are padded with blanks. */
  C_GetTokenInfo(slot: Handle): {
    readonly label: string
    readonly serialNumber: string
    readonly manufacturerID: string
    readonly model: string
    readonly flags: number
  }
  C_OpenSession(slot: Handle, flags: number): Handle
  C_Login(session: Handle, user: number, pin: string): void
  C_FindObjectsInit(session: Handle, template: readonly Attribute[]): void
  C_FindObjects(session: Handle, most: number): Handle[]
  C_FindObjectsFinal(session: Handle): void
  C_GetAttributeValue(
    session: Handle,
    object: Handle,
    template: readonly Attribute[],
  ): readonly { readonly type: number; readonly value: Buffer }[]
  C_DeriveKey(
    session: Handle,
    mechanism: { readonly mechanism: number; readonly parameter: unknown },
    key: Handle,
    template: readonly Attribute[],
  ): Handle
  C_DestroyObject(session: Handle, object: Handle): void
}

/** Its constants are named as the standard names them. */
export interface Pkcs11Package extends Readonly<
  Record<
    | 'CK_PARAMS_EC_DH'
    | 'CKA_CLASS'
    | 'CKA_DERIVE'
    | 'CKA_EC_PARAMS'
    | 'CKA_EC_POINT'
    | 'CKA_EXTRACTABLE'
    | 'CKA_ID'
    | 'CKA_KEY_TYPE'
    | 'CKA_LABEL'
    | 'CKA_SENSITIVE'
    | 'CKA_TOKEN'
    | 'CKA_VALUE'
    | 'CKA_VALUE_LEN'
    | 'CKD_NULL'
    | 'CKF_SERIAL_SESSION'
    | 'CKF_USER_PIN_COUNT_LOW'
    | 'CKF_USER_PIN_FINAL_TRY'
    | 'CKF_USER_PIN_LOCKED'
    | 'CKK_EC'
    | 'CKK_GENERIC_SECRET'
    | 'CKM_ECDH1_DERIVE'
    | 'CKO_PRIVATE_KEY'
    | 'CKO_PUBLIC_KEY'
    | 'CKO_SECRET_KEY'
    | 'CKU_USER',
    number
  >
> {
  readonly PKCS11: new () => Cryptoki
}
