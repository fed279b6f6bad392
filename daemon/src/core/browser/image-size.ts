/** Reads the size of a picture from its header. */
import type { Size } from '../../kit/types/geometry.ts';

/** Null for what is neither a PNG nor a JPEG. */
export function sizeOfImage(bytes: Uint8Array<ArrayBuffer>): Size | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length >= 24 && view.getUint32(0) === 0x89504e47)
    return { width: view.getUint32(16), height: view.getUint32(20) };
  for (let at = 2; at + 9 < bytes.length; at += 2 + view.getUint16(at + 2)) {
    const marker = view.getUint8(at + 1);
    // The frame headers SOF0 to SOF15, without DHT, JPG and DAC (ITU-T T.81, table B.1).
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
  }
  return null;
}
