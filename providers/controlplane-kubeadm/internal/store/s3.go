package store

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"

	backupv1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/backup/v1alpha1"
)

const (
	// defaultRegion is what servers without regions go by.
	defaultRegion = "us-east-1"
	// partSize is what is held in memory of an upload. The protocol allows 10,000 parts: 80 GiB.
	partSize = 8 << 20
	// cleanUp bounds what is done after an upload was interrupted.
	cleanUp = 30 * time.Second
)

// Bucket keeps objects in a bucket of a server that speaks S3.
type Bucket struct {
	client         *s3.Client
	bucket, prefix string
	partSize       int
}

// NewBucket makes a store of a destination and its credentials, the data of a Secret. The errors are for their author.
func NewBucket(d *backupv1.S3Destination, secret map[string][]byte) (*Bucket, error) {
	id, key := string(secret[backupv1.AccessKeyIDKey]), string(secret[backupv1.SecretAccessKeyKey])
	if id == "" || key == "" {
		return nil, fmt.Errorf("it needs the keys %s and %s", backupv1.AccessKeyIDKey, backupv1.SecretAccessKeyKey)
	}
	transport, err := transportFor(d.CABundle)
	if err != nil {
		return nil, err
	}
	options := s3.Options{
		Region:       d.Region,
		Credentials:  credentials.NewStaticCredentialsProvider(id, key, string(secret[backupv1.SessionTokenKey])),
		UsePathStyle: d.ForcePathStyle != nil && *d.ForcePathStyle,
		HTTPClient:   &http.Client{Transport: transport},
		// Many servers know nothing of the newer checksums. What is stored is read back and compared anyhow.
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenRequired,
		ResponseChecksumValidation: aws.ResponseChecksumValidationWhenRequired,
	}
	if options.Region == "" {
		options.Region = defaultRegion
	}
	if d.Endpoint != "" {
		options.BaseEndpoint = aws.String(d.Endpoint)
	}
	return &Bucket{client: s3.New(options), bucket: d.Bucket, prefix: d.Prefix, partSize: partSize}, nil
}

func transportFor(authorities string) (http.RoundTripper, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = time.Minute
	transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	if authorities != "" {
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM([]byte(authorities)) {
			return nil, errors.New("caBundle holds no certificate in PEM")
		}
		transport.TLSClientConfig.RootCAs = pool
	}
	return transport, nil
}

func (b *Bucket) key(name string) *string { return aws.String(path.Join(b.prefix, name)) }

// Put implements the store. What fits into one part goes in one request; everything else in parts, which become an object only
// at the end.
func (b *Bucket) Put(ctx context.Context, name string, content io.Reader) error {
	if err := b.abortUnfinished(ctx, name); err != nil {
		return err
	}
	part := make([]byte, b.partSize)
	n, err := io.ReadFull(content, part)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		_, err := b.client.PutObject(ctx, &s3.PutObjectInput{Bucket: &b.bucket, Key: b.key(name), Body: bytes.NewReader(part[:n])})
		return b.failed("storing the object", err)
	case err != nil:
		return err
	}
	created, err := b.client.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{Bucket: &b.bucket, Key: b.key(name)})
	if err != nil {
		return b.failed("beginning an upload", err)
	}
	if err := b.upload(ctx, name, created.UploadId, part, content); err != nil {
		// The context may be what ended the upload. A failure here is made good by the next attempt or the deletion.
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUp)
		defer cancel()
		_ = b.abort(last, b.key(name), created.UploadId)
		return err
	}
	return nil
}

// upload sends part, which is full, and the rest of the content, and makes an object of all of them.
func (b *Bucket) upload(ctx context.Context, name string, id *string, part []byte, content io.Reader) error {
	var parts []types.CompletedPart
	for n, number := len(part), int32(1); n > 0; number++ {
		sent, err := b.client.UploadPart(ctx, &s3.UploadPartInput{Bucket: &b.bucket, Key: b.key(name), UploadId: id,
			PartNumber: &number, Body: bytes.NewReader(part[:n])})
		if err != nil {
			return b.failed("uploading a part", err)
		}
		parts = append(parts, types.CompletedPart{ETag: sent.ETag, PartNumber: aws.Int32(number)})
		n, err = io.ReadFull(content, part)
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return err
		}
	}
	_, err := b.client.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{Bucket: &b.bucket, Key: b.key(name), UploadId: id,
		MultipartUpload: &types.CompletedMultipartUpload{Parts: parts}})
	return b.failed("completing an upload", err)
}

// abortUnfinished ends what attempts that were killed have left. It is invisible, but has to be paid for.
func (b *Bucket) abortUnfinished(ctx context.Context, name string) error {
	key := b.key(name)
	pages := s3.NewListMultipartUploadsPaginator(b.client, &s3.ListMultipartUploadsInput{Bucket: &b.bucket, Prefix: key})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if c := code(err); c == "NotImplemented" || c == "NoSuchUpload" {
			// Some servers end such uploads by themselves and cannot list them, others call an empty list an error.
			return nil
		}
		if err != nil {
			return b.failed("listing unfinished uploads", err)
		}
		for _, u := range page.Uploads {
			if aws.ToString(u.Key) != *key {
				continue
			}
			if err := b.abort(ctx, key, u.UploadId); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *Bucket) abort(ctx context.Context, key, id *string) error {
	_, err := b.client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: &b.bucket, Key: key, UploadId: id})
	if code(err) == "NoSuchUpload" {
		return nil
	}
	return b.failed("ending an unfinished upload", err)
}

// Get implements the store.
func (b *Bucket) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	object, err := b.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.bucket, Key: b.key(name)})
	if code(err) == "NoSuchKey" {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, b.failed("reading the object", err)
	}
	return object.Body, nil
}

// Delete implements the store.
func (b *Bucket) Delete(ctx context.Context, name string) error {
	if err := b.abortUnfinished(ctx, name); err != nil {
		return err
	}
	_, err := b.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.bucket, Key: b.key(name)})
	if code(err) == "NoSuchKey" {
		return nil
	}
	return b.failed("deleting the object", err)
}

// failed keeps what the server says and leaves out what differs between attempts: addresses, ids and numbers of attempts.
func (b *Bucket) failed(doing string, err error) error {
	if err == nil {
		return nil
	}
	var answer smithy.APIError
	if errors.As(err, &answer) {
		return fmt.Errorf("%s in bucket %s: %s", doing, b.bucket, answer.ErrorCode())
	}
	return fmt.Errorf("%s in bucket %s: %w", doing, b.bucket, innermost(err))
}

func innermost(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}

func code(err error) string {
	var answer smithy.APIError
	if errors.As(err, &answer) {
		return answer.ErrorCode()
	}
	return ""
}
