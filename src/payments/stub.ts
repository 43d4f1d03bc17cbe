// Stands in for a part while it is being written: everything it has answers with a failure, except closing.
export function stub<T extends object>(name: string): T {
  return new Proxy({} as T, {
    get: (_target, key) =>
      key === 'close'
        ? async () => {}
        : key === 'then'
          ? undefined
          : async () => {
              throw new Error(`${name} is being written`)
            },
  })
}
