/** A promise, and the function that resolves it. */
export function createSignal(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolveSignal = (): void => {};
  const promise = new Promise<void>((resolve) => {
    resolveSignal = resolve;
  });
  return { promise, resolve: resolveSignal };
}
