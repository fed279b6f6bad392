/** Transfers files over HTTP, at the addresses of each server. */
import type { FileTransfer } from './peer.ts';

interface FileAddresses {
  downloadUrl(path: string): string;
  upload(path: string, content: Blob): Promise<Response>;
}

export function transferOf({ downloadUrl, upload }: FileAddresses): FileTransfer {
  return {
    async upload(path, content) {
      const response = await upload(path, content);
      if (!response.ok) throw new Error(`${response.url}: ${response.status} ${await response.text()}`);
      await response.arrayBuffer();
    },
    async download(path) {
      const url = downloadUrl(path);
      const response = await fetch(url, { headers: { 'accept-encoding': 'identity' } });
      if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
      return response;
    },
  };
}
